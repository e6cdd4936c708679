internal import SandboxKit
internal import Clocks

/// A decision that tests ask for in place of the MVPD's.
struct ScriptedDecision: Sendable, Codable, Equatable {
    /// nil: any.
    var serviceProvider: String?
    var mvpd: String?
    var resource: String?
    /// An enhanced error's code, one of the table or another; nil: a permit.
    var code: String?
    /// The status of a code that the table lacks; default 403 and `none`.
    var status: Int?
    var action: String?
    var details: String?
    /// The number of decisions; 0: all.
    var times: Int?

    func fits(_ serviceProvider: String, _ mvpd: String, _ resource: String) -> Bool {
        self.serviceProvider ?? serviceProvider == serviceProvider && self.mvpd ?? mvpd == mvpd && self.resource ?? resource == resource
    }

    /// nil: a permit.
    var problem: VendorProblem? {
        guard let code else { return nil }
        if let known = VendorErrorCode(rawValue: code), status == nil, action == nil { return VendorProblem(known, details: details) }
        return VendorProblem(code: code, status: status ?? 403, action: action ?? "none", details: details)
    }

    func check(_ key: String) throws(SettingsFault) {
        try VendorBehaviour.check(status ?? 403, "\(key).status", 100...599)
        try VendorBehaviour.check(times ?? 1, "\(key).times", 0...1_000_000)
        guard (code ?? "").utf8.count <= 256, (details ?? "").utf8.count <= 16_384 else {
            throw SettingsFault(key: key, problem: "has a code of more than 256 octets, or details of more than 16384")
        }
    }
}

extension VendorState {
    /// The scripted decision for the next question; counts that question.
    mutating func takeScripted(_ serviceProvider: String, _ mvpd: String, _ resource: String) -> ScriptedDecision? {
        guard let index = scripted.firstIndex(where: { $0.fits(serviceProvider, mvpd, resource) }) else { return nil }
        let decision = scripted[index]
        let times = decision.times ?? 1
        if times == 1 {
            scripted.remove(at: index)
        } else if times > 1 {
            scripted[index].times = times - 1
        }
        return decision
    }
}

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

extension VendorState {
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
