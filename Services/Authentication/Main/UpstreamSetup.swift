internal import AuthenticationCore
internal import Catalogue
internal import OutboundHttp
internal import ServiceKit
internal import Storage

/// How upstreams are reached, and what is done for them in the background.
extension Main {
    /// Reaches upstreams, whose lists are long.
    static func upstreamTransport(_ environment: ServiceEnvironment<AuthenticationSettings>) -> GuardedOutbound {
        let transport = OutboundHttp(environment.outbound, largestAnswer: 2 * 1024 * 1024)
        environment.onStop { await transport.shutdown() }
        return GuardedOutbound(transport, allowsPrivate: environment.settings.allowPrivateUpstreams, isExempt: PlainHTTP.isAllowed)
    }

    /// The certificates that upstreams are shown, which are taken in anew when their files change. One that cannot be read keeps no service from
    /// starting: it closes the upstreams that name it, and each of them says so.
    static func clientCertificates(_ environment: ServiceEnvironment<AuthenticationSettings>) -> ClientCertificates {
        let (settings, files, logger) = (environment.settings, environment.files, environment.logger)
        let certificates = ClientCertificates(setting: "authentication.clientCertificates")
        let take = { @Sendable in
            for (name, reason) in certificates.replace(settings.loadClientCertificates(path: files.path)) {
                logger.error("client_certificate.unreadable", metadata: ["certificate": "\(name)", "reason": "\(reason)"])
            }
        }
        take()
        guard !settings.clientCertificates.isEmpty else { return certificates }
        environment.onChange(of: settings.clientCertificateFiles.map(files.path)) {
            take()
            logger.info("client_certificates.replaced")
        }
        return certificates
    }

    /// Names upstreams whose records say how they are reached, and works off what they have to be told.
    static func tellUpstreams(_ environment: ServiceEnvironment<AuthenticationSettings>, _ service: AuthenticationProgram, _ store: Store) {
        environment.background("upstream-connections") { await service.upstreams.nameConnections() }
        environment.background("upstream-logouts") { await service.upstreams.tell { await store.lease("upstream logouts") != nil } }
    }
}
