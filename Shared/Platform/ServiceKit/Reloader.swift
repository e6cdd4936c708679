internal import Logging
internal import ServiceLifecycle
internal import Transport
internal import UnixSignals

/// Takes in changed files without a restart: TLS identity on SIGHUP and when its files change, everything else on SIGHUP.
struct Reloader: Service {
    let identity: TlsIdentity?
    let reloads: [@Sendable () async -> Void]
    let logger: Logger
    /// How often the TLS files are looked at.
    var interval: Duration = .seconds(10)

    func run() async throws {
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        try? await cancelWhenGracefulShutdown {
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { for await _ in hangups { await reload() } }
                group.addTask { try await watch() }
            }
        }
    }

    private func reload() async {
        logger.info("program.reloading")
        reloadIdentity { identity throws(TlsError) in
            try identity.reload()
            return true
        }
        for reload in reloads { await reload() }
    }

    private func watch() async throws {
        while true {
            try await Task.sleep(for: interval)
            reloadIdentity { identity throws(TlsError) in try identity.reloadIfChanged() }
        }
    }

    private func reloadIdentity(_ reload: (TlsIdentity) throws(TlsError) -> Bool) {
        guard let identity else { return }
        do throws(TlsError) {
            if try reload(identity) { logger.info("tls.reloaded", metadata: ["certificate": "\(identity.files.certificate)"]) }
        } catch {
            logger.error("tls.reload_refused", metadata: ["reason": "\(error.message)"])
        }
    }
}
