/// A go-away that was sent or received.
struct Departure: Hashable, Sendable {
    var lastCallID: UInt64
    /// When remaining calls are given up; like all times inside, since the origin of the connection.
    var until: Duration
    /// When nothing was left to do; a callee then leaves the closing to the caller for a while.
    var doneSince: Duration?
}
