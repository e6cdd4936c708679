/// A call that this side made.
struct OutgoingCall: Sendable {
    var isStream: Bool
    var deadline: Duration?
}

/// A call that this side answers.
struct IncomingCall: Sendable {
    /// The index of its rule.
    var method: Int
    var deadline: Duration?
}
