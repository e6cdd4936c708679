internal import Contracts
internal import Faults

/// A no: an MVPD's, or that of a degradation rule in its place.
struct Denial: Hashable, Sendable {
    var code: Fault.Code
    /// The MVPD's or the operator's own text, cleaned.
    var details: String?

    init(code: Fault.Code, details: String? = nil) {
        self.code = code
        self.details = details
    }

    /// An AuthZ-None rule's (rest-v1 §6.1).
    init(_ rule: DegradationRule) {
        self.init(code: .authorizationDeniedByDegradationRule, details: MvpdText.clean(rule.message))
    }

    var fault: Fault { Fault(code, "User not authorized", details: details) }
}
