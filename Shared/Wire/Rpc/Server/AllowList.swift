internal import Contracts

/// Who may call what: names of callers' certificates per RPC service. Unlisted callers are refused.
///
/// Health, Reflection and Diagnostics, unless they are listed themselves, are open to every caller that is on some list.
public struct AllowList: Hashable, Sendable {
    private var callers: [String: Set<String>]

    static let platformServices: Set<String> = [HealthMethods.service, ReflectionMethods.service, DiagnosticsMethods.service]

    /// - Parameter callers: By full service name, for example `boxoffice.config.v1.Config`: DNS SANs, for example `gateway.boxoffice`.
    public init(_ callers: [String: Set<String>] = [:]) {
        self.callers = callers
    }

    /// The services that are named.
    public var services: Set<String> { Set(callers.keys) }

    /// True when a caller with one of these names may call the service.
    public func permits(_ names: [String], service: String) -> Bool {
        if let listed = callers[service] { return names.contains(where: listed.contains) }
        guard Self.platformServices.contains(service) else { return false }
        return callers.values.contains { listed in names.contains(where: listed.contains) }
    }
}
