internal import CoreMetrics
internal import Faults
internal import Frames
internal import Logging
internal import Memos
internal import Synchronization
internal import Transport

/// The state that all connections of a server share.
final class ServerCore: Sendable {
    let methods: [OfferedMethod]
    let table: MethodTable
    let rules: [MethodRule]
    let allow: AllowList
    let limits: RpcServerLimits
    let settings: ConnectionSettings
    let metrics: ServerMetrics
    let logger: Logger
    /// Calls in flight by method.
    let inFlight: [CallCounter]
    let connectionCount = CallCounter()
    let handshakes: Handshakes
    let callers: Callers

    init(services: RpcServices, configuration: RpcServer.Configuration, health: HealthState, logger: Logger) {
        let limits = configuration.limits
        methods = services.methods
        table = MethodTable(services.methods.map { ($0.service, $0.name) })
        rules = services.methods.map {
            MethodRule(isStream: $0.isStream, maxCallsInFlight: limits.callsPerMethod["\($0.service)/\($0.name)"])
        }
        allow = configuration.allow
        self.limits = limits
        metrics = ServerMetrics(services.methods)
        self.logger = logger
        handshakes = Handshakes(limit: limits.handshakes, perAddress: limits.handshakesPerAddress)
        callers = Callers(limit: limits.callers) { health.set(hasManyCallers: $0) }
        inFlight = services.methods.map { _ in CallCounter() }
        settings = Self.settings(services, configuration)
    }

    /// - Returns: For each method, whether a caller with these names may call it.
    func permissions(_ names: [String]) -> [Bool] {
        var byService: [String: Bool] = [:]
        // The name of a host says where a caller runs, not what it may do.
        let roles = HostName.roles(in: names)
        return methods.map { method in
            if let known = byService[method.service] { return known }
            let isPermitted = allow.permits(roles, service: method.service)
            byService[method.service] = isPermitted
            return isPermitted
        }
    }

    private static func settings(_ services: RpcServices, _ configuration: RpcServer.Configuration) -> ConnectionSettings {
        let limits = configuration.limits
        var settings = ConnectionSettings(
            software: configuration.software, softwareVersion: configuration.softwareVersion, services: services.serviceNames)
        settings.zone = configuration.zone
        settings.host = configuration.identity.hostName ?? ""
        settings.maxFrameBytes = limits.frameBytes
        settings.maxCallsInFlight = limits.callsPerConnection
        settings.helloTimeout = limits.helloTime
        settings.pingInterval = limits.pingInterval
        settings.pingTimeout = limits.pingTimeout
        settings.idleTimeout = limits.idleTime
        settings.drainTimeout = configuration.drainTime
        settings.overloadedRetryAfter = limits.overloadedRetryAfter
        return settings
    }
}

/// Which programs have connections to a server, to know when there are more than each copy can bear all connections of.
final class Callers: Sendable {
    private struct State {
        var connections: [UInt64: Int] = [:]
        var areMany = false
    }

    private let limit: Int
    /// Called at each change, one at a time.
    private let report: @Sendable (_ areMany: Bool) -> Void
    private let state = Mutex(State())

    /// - Parameter limit: More programs than these are many; they are until a quarter fewer are left.
    init(limit: Int, report: @escaping @Sendable (_ areMany: Bool) -> Void) {
        self.limit = limit
        self.report = report
    }

    var count: Int { state.withLock { $0.connections.count } }

    /// A program has one more connection.
    func enter(_ program: UInt64) {
        state.withLock { state in
            state.connections[program, default: 0] += 1
            judge(&state)
        }
    }

    /// A program has one connection fewer.
    func leave(_ program: UInt64) {
        state.withLock { state in
            guard let count = state.connections[program] else { return }
            state.connections[program] = count > 1 ? count - 1 : nil
            judge(&state)
        }
    }

    private func judge(_ state: inout State) {
        let areMany = state.connections.count > (state.areMany ? limit * 3 / 4 : limit)
        guard areMany != state.areMany else { return }
        state.areMany = areMany
        report(areMany)
    }
}

/// Counts of a server's calls; labels are bounded: methods that are offered, codes of `Fault`.
final class ServerMetrics: Sendable {
    private struct PerMethod: Sendable {
        let service: String
        let method: String
        let succeeded: Counter
        let duration: CoreMetrics.Timer
    }

    private struct Failure: Hashable {
        let method: Int?
        let code: Fault.Code
    }

    private let methods: [PerMethod]
    /// Far more than there are: a counter is found by its labels once, which costs as much as the rest of a small call.
    private let failures = Memo<Failure, Counter>(capacity: 4096)
    let connections = Meter(label: "boxoffice_rpc_server_connections")
    let handshakeFailures = Counter(label: "boxoffice_rpc_server_handshake_failures_total")
    let refusedConnections = Counter(label: "boxoffice_rpc_server_refused_connections_total")
    let slowReaders = Counter(label: "boxoffice_rpc_server_slow_readers_total")

    init(_ offered: [OfferedMethod]) {
        methods = offered.map { method in
            PerMethod(
                service: method.service, method: method.name, succeeded: Self.calls(method.service, method.name, "ok"),
                duration: CoreMetrics.Timer(
                    label: "boxoffice_rpc_server_call_duration_seconds",
                    dimensions: [("service", method.service), ("method", method.name)]))
        }
    }

    /// - Parameter count: Calls that were answered well at once, in one batch.
    func succeeded(_ method: Int, count: Int = 1) { methods[method].succeeded.increment(by: count) }

    func took(_ method: Int, since begun: ContinuousClock.Instant) {
        let span = begun.duration(to: .now)
        methods[method].duration.recordNanoseconds(span.components.seconds * 1_000_000_000 + span.components.attoseconds / 1_000_000_000)
    }

    /// - Parameter method: `nil` for a method that is not offered: its names are the peer's and would be labels without bound.
    func failed(_ method: Int?, _ code: Fault.Code) {
        failures.value(Failure(method: method, code: code)) {
            Self.calls(method.map { methods[$0].service } ?? "unknown", method.map { methods[$0].method } ?? "unknown", code.rawValue)
        }.increment()
    }

    private static func calls(_ service: String, _ method: String, _ code: String) -> Counter {
        Counter(label: "boxoffice_rpc_server_calls_total", dimensions: [("service", service), ("method", method), ("code", code)])
    }
}
