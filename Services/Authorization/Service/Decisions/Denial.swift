internal import Faults

/// An MVPD's no.
struct Denial: Hashable, Sendable {
    var code: Fault.Code
    /// The MVPD's own text, cleaned.
    var details: String?

    var fault: Fault { Fault(code, "User not authorized", details: details) }
}
