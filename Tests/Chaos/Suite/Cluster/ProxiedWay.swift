import CommandKit

/// A way between two services, over which a proxy lies.
struct ProxiedWay: Hashable, Sendable {
    let caller: ClusterService
    let callee: ClusterService

    /// All ways of the cluster on which services call each other.
    static let all: [ProxiedWay] = [
        ProxiedWay(caller: .gateway, callee: .config), ProxiedWay(caller: .gateway, callee: .authentication),
        ProxiedWay(caller: .gateway, callee: .authorization), ProxiedWay(caller: .gateway, callee: .autosignin),
        ProxiedWay(caller: .authentication, callee: .config), ProxiedWay(caller: .authorization, callee: .config),
        ProxiedWay(caller: .authorization, callee: .authentication), ProxiedWay(caller: .autosignin, callee: .config),
        ProxiedWay(caller: .autosignin, callee: .authentication),
    ]

    /// Place of its proxy's port after the base of the cluster's ports.
    var offset: Int { 30 + (Self.all.firstIndex(of: self) ?? 0) }
}
