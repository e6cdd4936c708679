internal import CProcess
internal import Dispatch
internal import Foundation
internal import Logging
internal import ServiceLifecycle
internal import Transport
internal import UnixSignals

extension ServiceEnvironment {
    /// Runs the debug listener, then builds the program, then runs everything that was handed over until one of the signals, or a failure.
    ///
    /// Building may take long, where the store's server is away. Health, readiness and metrics answer meanwhile, nothing else listens, and a signal
    /// ends the program at once.
    /// - Parameters:
    ///   - manager: Hears that the program stops, and starts it again where it hangs; `nil`: there is none.
    ///   - build: Hands over what is to run.
    ///   - overdue: Called from a thread of its own when a stop takes longer than its limit.
    func serve(
        stoppedBy signals: [UnixSignal] = [.sigterm, .sigint], toldTo manager: ServiceManager? = nil,
        building build: @escaping @Sendable () async throws -> Void = {}, overdue: @escaping @Sendable (Duration) -> Void = { _ in }
    ) async throws {
        let watchdog = manager.map { Watchdog($0, parts: Watchdog.ofThisProcess) }
        let (listening, begin) = AsyncStream<Void>.makeStream()
        let debug = DebugListener(endpoint: common.debug, metrics: metrics, readiness: readiness, logger: logger) { _ in begin.finish() }
        let isBuilt = Milestone()
        readiness.requireStart { [storeWait] in isBuilt.isReached || storeWait.lacking != nil ? nil : "is under way" }
        let body = ProgramBody { [self] in
            // Nothing is touched by a program whose port somebody else has: that may be the same program.
            for await _ in listening {}
            try Task.checkCancellation()
            try await build()
            let watched: [any Service] = watchdog.map { [WatchedTime(watchdog: $0)] } ?? []
            var configuration = groupConfiguration(try services() + watched, [])
            // Late work is cut short, so that the stores are closed in the time that is left.
            configuration.maximumGracefulShutdownDuration = stopLimit - .seconds(2)
            let group = ServiceGroup(configuration: configuration)
            isBuilt.reach()
            return group
        } abandoned: { [readiness] in
            readiness.stop()
        }
        let end = StopLimit()
        defer { end.reach() }
        // The first to hear of a stop.
        let stop = StopAction { [self] in
            let limit = stopLimit
            // A unit that gives less time than that waits for as long.
            manager?.tell("STOPPING=1", "EXTEND_TIMEOUT_USEC=\((limit + .seconds(2)).wholeMicroseconds)")
            watchdog?.stop()
            end.begin(limit) { overdue(limit) }
        }
        try await ServiceGroup(configuration: groupConfiguration([debug, body, stop], signals)).run()
        logger.info("program.stopped")
    }

    private func services() throws(StartFailure) -> [any Service] {
        var services: [any Service] = []
        // Stops behind all that makes spans.
        if let telemetry { services.append(telemetry) }
        let listener = try listener()
        let dates = CertificateDates(
            files: parts.certificates,
            told: { [parts] ends in
                parts.note(certificatesThatEnd: ends)
                listener?.server.health.set(certificates: ends)
            }, clock: clock)
        if !dates.files.isEmpty { services.append(BackgroundWork(name: "certificate-dates") { try await dates.run() }) }
        services += parts.assembled()
        services.append(Reloader(identity: parts.identity, reloads: parts.reloads, logger: logger))
        services.append(StartPages(logger: logger))
        services.append(FreedMemory(logger: logger))
        if let listener { services.append(listener) }
        services.append(StopAction { [self] in await beginToStop(listener) })
        return services
    }

    /// Says that the program is not ready, and goes on as before for as long as callers and balancers may take to notice. Then it ends streams.
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
        // A program that only calls others is not asked: its callers are not on the wire.
        let certificate = WireCertificate([identity.files.certificate, identity.files.trustAnchors], clock: clock)
        readiness.require("tls") { certificate.lacking }
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
        return ServiceGroupConfiguration(services: parts, gracefulShutdownSignals: signals, logger: quiet)
    }

    /// A stop may take this long: as before for `stopDelaySeconds`, then the time that calls under way get, and 5 s for all else.
    var stopLimit: Duration {
        .seconds(common.limits.stopDelaySeconds ?? 0) + max(.seconds(common.limits.drainSeconds ?? 10), parts.drain) + .seconds(5)
    }
}

/// The time that a stop may take.
private final class StopLimit: Sendable {
    private let end = DispatchSemaphore(value: 0)

    /// - Parameter overdue: Called where the end is not reached within the time. Threads that hang do not keep it from that.
    func begin(_ time: Duration, overdue: @escaping @Sendable () -> Void) {
        let thread = Thread { [end] in
            if end.wait(timeout: .now() + .microseconds(Int(time.wholeMicroseconds))) == .timedOut { overdue() }
        }
        thread.name = "stop-limit"
        thread.start()
    }

    func reach() { end.signal() }
}

/// All of a program but its debug listener: it is built first, and then runs.
private struct ProgramBody: Service {
    let build: @Sendable () async throws -> ServiceGroup
    /// Called when the program is to stop before it is built.
    let abandoned: @Sendable () -> Void

    func run() async throws {
        let group: ServiceGroup
        do {
            group = try await cancelWhenGracefulShutdown { [build] in try await build() }
        } catch {
            guard Task.isShuttingDownGracefully else { throw error }
            return abandoned()
        }
        try await group.run()
    }
}

/// Gives memory that was freed back to the system.
///
/// The C library keeps freed memory for the next use, in each thread's arena, and gives back only the end of one. After a flood of large frames or
/// bodies a service would keep their size for ever, of which it needs nothing.
struct FreedMemory: Service {
    let logger: Logger
    /// Between two looks.
    var interval: Duration = .seconds(5)
    /// The amount that a service may keep for its next work, in bytes.
    var kept = 32 * 1024 * 1024

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: interval)
                release()
            }
        }
    }

    /// - Returns: True when there was more than may be kept.
    @discardableResult
    func release() -> Bool {
        let free = boxoffice_memory_free()
        guard free > kept else { return false }
        boxoffice_memory_release()
        logger.debug("program.memory_released", metadata: ["bytes": "\(free)"])
        return true
    }
}

/// Takes in changed files without a restart: TLS identity on SIGHUP and when its files change, everything else on SIGHUP.
struct Reloader: Service {
    let identity: TlsIdentity?
    let reloads: [@Sendable () async -> Void]
    let logger: Logger
    /// The TLS files are looked at this often.
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
