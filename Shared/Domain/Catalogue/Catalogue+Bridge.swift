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

    /// The integration that stands for one that the catalogue lacks, where the requestor is upstream as a whole. The catalogue's own name of an MVPD
    /// counts alone.
    func wholeUpstream(requestor id: String, mvpd: String) -> Integration? {
        guard let requestor = requestor(id), let (_, bridge) = upstream(of: requestor), bridge.everyMvpd, Self.isMvpdID(mvpd),
            !bridge.mvpdNames.contains(where: { $0.theirs == mvpd && $0.ours != mvpd }),
            !bridgedIntegrations(requestor: id).contains(where: { $0.bridge?.mvpdName == mvpd && $0.mvpdID != mvpd })
        else { return nil }
        return Integration(
            requestorID: id, mvpdID: mvpd, enabled: true, preflightMaxResources: bridge.preflightMaxResources, bridge: IntegrationBridge())
    }

    /// True when only the upstream's list can say that there is such an integration (bridge §3.2).
    public func isListedOnly(requestor id: String, mvpd: String) -> Bool {
        !isInCatalogue(requestor: id, mvpd: mvpd) && wholeUpstream(requestor: id, mvpd: mvpd) != nil
    }

    /// Our name of an MVPD of the requestor's upstream; `nil` where none that upstream serves is called so.
    public func ourMvpd(requestor id: String, theirs: String) -> String? {
        let named = bridgedIntegrations(requestor: id).first { bridgeWay(requestor: id, mvpd: $0.mvpdID)?.theirMvpd == theirs }?.mvpdID
        let ours = named ?? requestor(id)?.bridge?.mvpdNames.first { $0.theirs == theirs }?.ours ?? theirs
        guard let integration = integration(requestor: id, mvpd: ours), integration.enabled, integration.bridge != nil else { return nil }
        return ours
    }

    /// 1 to 128 letters, digits, `_` and `-`, the first a letter or a digit.
    private static func isMvpdID(_ text: String) -> Bool {
        func isAlphanumeric(_ octet: UInt8) -> Bool {
            (0x30...0x39).contains(octet) || (0x41...0x5a).contains(octet) || (0x61...0x7a).contains(octet)
        }
        guard (1...128).contains(text.utf8.count), let first = text.utf8.first, isAlphanumeric(first) else { return false }
        return text.utf8.allSatisfy { isAlphanumeric($0) || $0 == 0x5f || $0 == 0x2d }
    }

    /// True when rules of this cluster may let people in and permit. Where an upstream decides, they may only if verifiers trust our media tokens too
    /// (bridge §10.3).
    public func permitsByRule(requestor id: String, mvpd: String) -> Bool { bridgeWay(requestor: id, mvpd: mvpd)?.bridge.localMediaTokens ?? true }

    /// The integrations that an upstream serves at a requestor, enabled or not, in catalogue order.
    public func bridgedIntegrations(requestor: String) -> [Integration] { bridgedIntegrationsByRequestor[requestor] ?? [] }
}
