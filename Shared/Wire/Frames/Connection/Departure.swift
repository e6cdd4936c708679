/// A go-away that was sent or received.
struct Departure: Hashable, Sendable {
    var lastCallID: UInt64
    /// Remaining calls are given up at this time; like all times inside, since the origin of the connection.
    var until: Duration
    /// Nothing was left to do at this time; a callee then leaves the closing to the caller for a while.
    var doneSince: Duration?
}
