public import Clocks
public import Contracts

extension Catalogue {
    /// The rule that decides in place of the MVPD at this moment (rest-v1 §6.1).
    ///
    /// AuthZ-None comes before AuthN-All, that before AuthZ-All; of two rules of one kind the one that lasts longer counts. Where an upstream decides, the
    /// latter two need the requestor's `localMediaTokens` (bridge §10.3).
    /// - Parameters:
    ///   - platform: The device's; `nil` when it is unknown: a rule for some platforms does not apply then.
    ///   - resource: The resource to watch; `nil` for a sign-in, to which only AuthN-All applies, independent of the resources that the rule names.
    public func degradation(requestor: String, mvpd: String, platform: Platform?, resource: String?, now: Timestamp) -> DegradationRule? {
        guard let rules = degradationRules[IntegrationKey(requestor: requestor, mvpd: mvpd)] else { return nil }
        let permits = permitsByRule(requestor: requestor, mvpd: mvpd)
        let holding = rules.filter { $0.holds(on: platform, for: resource, at: now) && (permits || $0.kind == .authzNone) }
        return holding.max { ($0.kind.precedence, $0.endsAtMilliseconds) < ($1.kind.precedence, $1.endsAtMilliseconds) }
    }

    /// The rule of that id, if the pair has it; it may have ended.
    public func degradationRule(_ id: String, requestor: String, mvpd: String) -> DegradationRule? {
        degradationRules[IntegrationKey(requestor: requestor, mvpd: mvpd)]?.first { $0.id == id }
    }
}

extension DegradationRule {
    /// True from its start up to its end.
    public func isActive(at now: Timestamp) -> Bool {
        let now = UInt64(clamping: now.milliseconds)
        return startsAtMilliseconds <= now && now < endsAtMilliseconds
    }

    fileprivate func holds(on platform: Platform?, for resource: String?, at now: Timestamp) -> Bool {
        guard isActive(at: now), kind.precedence > 0, platforms.isEmpty || platform.map(platforms.contains) == true else { return false }
        guard let resource else { return kind == .authnAll }
        return resources.isEmpty || resources.contains(resource)
    }
}

extension DegradationKind {
    /// 0: an unknown kind.
    fileprivate var precedence: Int {
        switch self {
        case .authzNone: 3
        case .authnAll: 2
        case .authzAll: 1
        case .unknown, .unrecognized: 0
        }
    }
}
