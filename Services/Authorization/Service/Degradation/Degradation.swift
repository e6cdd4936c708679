internal import Catalogue
internal import Clocks
internal import Contracts

/// The answer of a requestor's and an MVPD's degradation rules for a device at one moment (rest-v1 §6.1).
struct Degradation: Sendable {
    enum Effect: Hashable, Sendable {
        /// AuthZ-None: nothing is permitted, whatever is cached.
        case blocked(DegradationRule)
        /// AuthN-All, AuthZ-All: permitted without the MVPD.
        case permitted(DegradationRule)
    }

    private let catalogue: Catalogue
    private let requestor: String
    private let mvpd: String
    private let platform: Platform?
    private let now: Timestamp

    /// - Parameter platform: `nil`: nothing is known of the device; rules for certain platforms do not concern it.
    init(_ catalogue: Catalogue, requestor: String, mvpd: String, platform: Platform?, now: Timestamp) {
        self.catalogue = catalogue
        self.requestor = requestor
        self.mvpd = mvpd
        self.platform = platform
        self.now = now
    }

    /// The effect on a resource, named as it was sent or by its channel.
    func effect(on resource: RequestedResource) -> Effect? {
        let rules = [resource.text, resource.channel].compactMap { rule(for: $0) }
        if let rule = rules.first(where: { $0.kind == .authzNone }) { return .blocked(rule) }
        // An AuthN-All rule made sessions that no MVPD knows: it permits whatever resources it names.
        return (rules.first ?? rule(for: nil)).map { .permitted($0) }
    }

    /// True when all resources of a preauthorization are permitted: AuthZ-All does once it covers one of them.
    func permits(_ resources: [RequestedResource]) -> Bool {
        rule(for: nil) != nil || resources.contains { if case .permitted = effect(on: $0) { true } else { false } }
    }

    /// True when a permit that the rule gave still counts.
    func upholds(_ rule: String) -> Bool {
        catalogue.configuration.degradationRules.contains { $0.id == rule && $0.isActive(at: now) }
    }

    private func rule(for resource: String?) -> DegradationRule? {
        catalogue.degradation(requestor: requestor, mvpd: mvpd, platform: platform, resource: resource, now: now)
    }
}
