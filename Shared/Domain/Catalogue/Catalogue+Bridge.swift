public import Contracts

/// Which upstream serves an MVPD at a requestor, and what both are called there (bridge §3.2).
public struct BridgeWay: Hashable, Sendable {
    public let upstream: BridgeUpstream
    public let bridge: RequestorBridge
    /// Ours.
    public let requestor: String
    /// Ours.
    public let mvpd: String
    /// Upstream's name of the MVPD.
    public let theirMvpd: String

    /// Upstream's name of the requestor.
    public var serviceProvider: String { bridge.serviceProvider }

    /// Upstream's name of a domain.
    public func theirDomain(_ domain: String) -> String { bridge.domainNames.first { $0.ours == domain }?.theirs ?? domain }
}

extension Catalogue {
    /// The upstream that a requestor uses, and how; `nil`: none.
    public func upstream(of requestor: Requestor) -> (upstream: BridgeUpstream, bridge: RequestorBridge)? {
        guard let bridge = requestor.bridge, let upstream = upstream(bridge.upstreamID) else { return nil }
        return (upstream, bridge)
    }

    /// The upstream with that id; `nil` when there is none.
    public func upstream(_ id: String) -> BridgeUpstream? { configuration.upstreams.first { $0.id == id } }

    /// - Returns: `nil` for an integration that has a way of its own, and where there is none.
    public func bridgeWay(requestor id: String, mvpd: String) -> BridgeWay? {
        guard let requestor = requestor(id), let (upstream, bridge) = upstream(of: requestor),
            let integration = integration(requestor: id, mvpd: mvpd), let own = integration.bridge
        else { return nil }
        let theirs = own.mvpdName.isEmpty ? bridge.mvpdNames.first { $0.ours == mvpd }?.theirs ?? mvpd : own.mvpdName
        return BridgeWay(upstream: upstream, bridge: bridge, requestor: id, mvpd: mvpd, theirMvpd: theirs)
    }

    /// What an upstream serves at a requestor, enabled or not, in catalogue order.
    public func bridgedIntegrations(requestor: String) -> [Integration] { bridgedIntegrationsByRequestor[requestor] ?? [] }
}
