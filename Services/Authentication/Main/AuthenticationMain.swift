internal import AuthenticationAdministration
internal import AuthenticationCore
internal import Catalogue
internal import OutboundHttp
internal import ServiceKit
internal import Storage
internal import Tokens

/// The authentication service as a program.
@main
struct Main {
    static func main() async {
        await ServiceProgram.run(
            "authentication", settings: AuthenticationSettings.self, sweeps: AuthenticationDatabase.sweeps,
            check: { settings, files in
                _ = try keys(files) { try AuthenticationKeys(settings, read: $0) }
                if let path = settings.secretsKey { _ = try keys(files) { try AuthenticationKeys.secretKeys(settings, path: path, read: $0) } }
            },
            doubts: { settings, common, files in common.doubts() + settings.doubts(path: files.path) }, start)
    }

    @Sendable private static func start(_ environment: ServiceEnvironment<AuthenticationSettings>) async throws {
        let (settings, files) = (environment.settings, environment.files)
        let store = try await environment.openStore(migrations: AuthenticationDatabase.migrations, postgres: AuthenticationDatabase.postgresSteps)
        environment.sweep(store, AuthenticationDatabase.sweeps(of: store, reportHours: settings.reportHours))
        environment.tellEnds(of: [
            "saml signing": settings.signingCertificate, "next saml signing": settings.otherSigningCertificate,
            "saml encryption": settings.encryptionCertificate,
        ])
        let transport = OutboundHttp(environment.outbound)
        environment.onStop { await transport.shutdown() }
        let keys = try Self.keys(files) { try AuthenticationKeys(settings, read: $0) }
        let secretsKey = try await environment.keyFile(
            settings.secretsKey, else: "secrets.key", .symmetric, setting: "authentication.secretsKey", sealing: "sealed_secret", in: store)
        let sdkTokenKey = try environment.keyFile(settings.sdkTokenKey, else: "sdk-token.key", .signing, setting: "authentication.sdkTokenKey")
        let sdkSealKey = try environment.keyFile(settings.sdkSealKey, else: "sdk-seal.key", .symmetric, setting: "authentication.sdkSealKey")
        let serviceTokenKey = try environment.keyFile(
            settings.serviceTokenKey, else: "service-token.key", .rsa, setting: "authentication.serviceTokenKey")
        let secretKeys = try Self.keys(files) { try AuthenticationKeys.secretKeys(settings, path: secretsKey, read: $0) }
        let seals = try Self.keys(files) { try AuthenticationKeys.storedTokenSeals(settings, path: sdkSealKey, read: $0) }
        try await environment.requireKnown(
            keys.fingerprints + [secretKeys.fingerprint("secretsKey"), seals.fingerprint("sdkSealKey")], in: store)
        let accessTokenKeys = SigningKeyRotation(
            keys.accessTokens, lead: .seconds(settings.accessTokenKeyLead), tokenLife: .seconds(settings.accessTokenTTL), clock: environment.clock)
        let storedTokenKeys = SigningKeyRotation(
            try Self.keys(files) { try AuthenticationKeys.storedTokens(settings, path: sdkTokenKey, read: $0) },
            lead: .seconds(settings.accessTokenKeyLead), tokenLife: SessionRecord.longestLife, clock: environment.clock)
        let serviceTokenKeys = ServiceTokenKeys(
            try Self.keys(files) { try AuthenticationKeys.serviceTokens(settings, path: serviceTokenKey, read: $0) },
            lead: .seconds(settings.accessTokenKeyLead), clock: environment.clock)
        let service = try AuthenticationProgram(
            settings, keys: keys, accessTokenKeys: accessTokenKeys.keys, secretKeys: secretKeys, storedTokenKeys: storedTokenKeys.keys,
            storedTokenSeals: seals, serviceTokenKeys: serviceTokenKeys, clientSecrets: settings.clientSecrets.map(files.path), transport: transport,
            upstreams: upstreamTransport(environment),
            clientCertificates: clientCertificates(environment),
            database: AuthenticationDatabase(store, cachedSessions: settings.cachedSessions),
            catalogue: try environment.catalogue(), usage: try environment.usageCounter(), clock: environment.clock, logger: environment.logger)
        // Bearers that were checked with a key that may have gone are checked again; so are stored tokens.
        let (bearers, storedTokens) = (service.clients.bearers, service.sessions.stored.verifier)
        try await environment.share(accessTokenKeys, named: "access token", in: store) { bearers.forgetTokens() }
        try await environment.share(storedTokenKeys, named: "sdk token", in: store) { storedTokens.forget() }
        try await environment.share(serviceTokenKeys, named: "service token", in: store)
        environment.onKeyChange(of: settings.accessTokenKeyFiles.map(files.path), named: "access_token_keys") {
            accessTokenKeys.adopt(try Self.keys(files) { try AuthenticationKeys.accessTokens(settings, read: $0) })
            bearers.forgetTokens()
            return accessTokenKeys.signingKeyName
        } advance: {
            guard accessTokenKeys.advance() else { return nil }
            bearers.forgetTokens()
            return accessTokenKeys.signingKeyName
        }
        environment.onKeyChange(of: ([sdkTokenKey] + settings.olderSdkTokenKeys).map(files.path), named: "sdk_token_keys") {
            storedTokenKeys.adopt(try Self.keys(files) { try AuthenticationKeys.storedTokens(settings, path: sdkTokenKey, read: $0) })
            storedTokens.forget()
            return storedTokenKeys.signingKeyName
        } advance: {
            guard storedTokenKeys.advance() else { return nil }
            storedTokens.forget()
            return storedTokenKeys.signingKeyName
        }
        environment.onKeyChange(of: ([serviceTokenKey] + settings.olderServiceTokenKeys).map(files.path), named: "service_token_keys") {
            serviceTokenKeys.adopt(try Self.keys(files) { try AuthenticationKeys.serviceTokens(settings, path: serviceTokenKey, read: $0) })
            return serviceTokenKeys.signing.identifier
        } advance: {
            serviceTokenKeys.advance() ? serviceTokenKeys.signing.identifier : nil
        }
        takeInSecretKeys(environment, service, store, seals: sdkSealKey, secrets: secretsKey)
        let reports = service.reports
        environment.background("sign-in-reports") { [logger = environment.logger] in
            await reports.share(logger) { await store.lease("sign-in reports") != nil }
        }
        tellUpstreams(environment, service, store)
        environment.background("households") { await service.administration.people.markHouseholds { await store.lease("households") != nil } }
        environment.background("scheduled-sign-ins") { await service.administration.scheduled.run() }
        let doubt = service.clockDoubt
        environment.background("clock") { await ClockDoubt.watch(doubt) }
        environment.readiness.note("clock") { doubt?.doubt }
        environment.background("provider-keys") { await service.signIn.keySets.keep() }
        environment.background("unused-clients") {
            await service.clients.unused.forget(after: settings.clientDays, idleAfter: settings.idleClientDays) {
                await store.lease("unused clients") != nil
            }
        }
        environment.offer { service.register(on: &$0) }
    }

    /// - Throws: `StartFailure` naming the file that cannot be used.
    static func keys<Keys>(
        _ files: SettingsFiles, _ load: ((_ path: String, _ key: String) throws -> String) throws -> Keys
    ) throws -> Keys {
        do {
            return try load { path, key in try files.text(path, key: key) }
        } catch let error as AuthenticationKeyError {
            throw files.failure(error.key, error.problem)
        }
    }
}
