internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

extension ServiceEnvironment {
    /// Runs everything that was handed over until one of the signals, or a failure.
    func serve(stoppedBy signals: [UnixSignal] = [.sigterm, .sigint]) async throws {
        let group = ServiceGroup(configuration: groupConfiguration(try services(), signals))
        try await group.run()
        logger.info("program.stopped")
    }

    private func services() throws(StartFailure) -> [any Service] {
        var services: [any Service] = [DebugListener(endpoint: common.debug, metrics: metrics, readiness: readiness, logger: logger)]
        // Stops behind all that makes spans.
        if let telemetry { services.append(telemetry) }
        let dates = CertificateDates(files: parts.certificates)
        if !dates.files.isEmpty { services.append(BackgroundWork(name: "certificate-dates") { try await dates.run() }) }
        services += parts.assembled()
        services.append(Reloader(identity: parts.identity, reloads: parts.reloads, logger: logger))
        services.append(StartPages(logger: logger))
        services.append(FreedMemory(logger: logger))
        let listener = try listener()
        if let listener { services.append(listener) }
        services.append(StopAction { [self] in await beginToStop(listener) })
        return services
    }

    /// Says that the program is not ready, and goes on as before for as long as callers and balancers may take to notice; then ends streams.
    private func beginToStop(_ listener: RpcListener?) async {
        readiness.stop()
        listener?.announceStop()
        if let seconds = common.limits.stopDelaySeconds, seconds > 0 {
            logger.info("program.leaving", metadata: ["seconds": "\(seconds)"])
            try? await Task.sleep(for: .seconds(seconds))
        }
        for farewell in parts.farewells { await farewell() }
    }

    private func listener() throws(StartFailure) -> RpcListener? {
        let offered = parts.offered
        guard let endpoint = common.listen, let identity = parts.identity else {
            if offered.serviceNames.isEmpty { return nil }
            throw files.failure("listen", "is missing: this program offers \(offered.serviceNames.joined(separator: ", "))")
        }
        for service in common.allow.keys where !offered.serviceNames.contains(service) && !Self.platformServices.contains(service) {
            throw files.failure(
                "allow.\(service)", "names a service that this program does not offer; it offers \(offered.serviceNames.joined(separator: ", "))")
        }
        return RpcListener(
            program: name, endpoint: endpoint, identity: identity, common: common, services: offered, readiness: readiness, logger: logger)
    }

    private static var platformServices: Set<String> {
        ["boxoffice.platform.v1.Health", "boxoffice.platform.v1.Reflection", "boxoffice.platform.v1.Diagnostics"]
    }

    private func groupConfiguration(_ services: [any Service], _ signals: [UnixSignal]) -> ServiceGroupConfiguration {
        var quiet = logger
        quiet.logLevel = max(.warning, logger.logLevel)
        let parts = services.map { ServiceGroupConfiguration.ServiceConfiguration(service: EnduringPart(part: $0)) }
        var configuration = ServiceGroupConfiguration(services: parts, gracefulShutdownSignals: signals, logger: quiet)
        configuration.maximumGracefulShutdownDuration = .seconds((common.limits.stopDelaySeconds ?? 0) + (common.limits.drainSeconds ?? 10) + 20)
        return configuration
    }
}
