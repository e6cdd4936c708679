internal import Logging
internal import Frames
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
