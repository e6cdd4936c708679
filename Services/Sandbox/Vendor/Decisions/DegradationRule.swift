internal import Clocks

/// A rule that bypasses an MVPD (rest-v2 §2.14).
struct DegradationRule: Sendable, Codable, Equatable {
    enum Kind: String, Sendable, Codable {
        case authNAll = "AuthNAll"
        case authZAll = "AuthZAll"
        case authZNone = "AuthZNone"
    }

    let kind: Kind
    let serviceProvider: String
    let mvpd: String
    /// Milliseconds since 1970; nil: until it is lifted.
    var endMilliseconds: Int64?
    /// Becomes the `details` of denials.
    var message: String?
    /// Only these; nil: all.
    var resources: [String]?

    var end: Timestamp? { endMilliseconds.map { Timestamp(milliseconds: $0) } }

    func covers(_ resource: String?) -> Bool {
        guard let resources else { return true }
        return resource.map { resource in resources.contains { $0 == resource } } ?? false
    }
}

extension UpstreamState {
    /// The rule of a kind that holds now.
    func rule(
        _ kind: DegradationRule.Kind, _ serviceProvider: String, _ mvpd: String, resource: String?, at now: Timestamp
    ) -> DegradationRule? {
        rules.first { rule in
            rule.kind == kind && rule.serviceProvider == serviceProvider && rule.mvpd == mvpd && rule.end.map { now < $0 } ?? true
                && rule.covers(resource)
        }
    }
}
