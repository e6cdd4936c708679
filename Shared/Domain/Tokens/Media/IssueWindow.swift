public import Clocks
public import Faults

/// The issue times that one copy of a service may use. It is a copy number that no other copy has at that moment, and a range of seconds.
public struct IssueWindow: Sendable, Equatable {
    /// One of `MediaTokenIssuer.copies`.
    public var copy: Int
    /// The first second that it may use; another process may have used earlier ones.
    public var first: Timestamp
    /// Only seconds before it may be used: the next holder of the number begins there.
    public var end: Timestamp

    /// - Parameters:
    ///   - copy: One of `MediaTokenIssuer.copies`, 0 to 839.
    ///   - first: The first second that may be used.
    ///   - end: The first second that may no longer be used.
    public init(copy: Int, first: Timestamp, end: Timestamp) {
        self.copy = copy
        self.first = first
        self.end = end
    }
}

/// Holds the number of a copy.
public protocol IssueWindows: Sendable {
    /// - Returns: A window that ends after `now`.
    /// - Throws: `unavailable` when another copy holds the number now, or it cannot be held longer; faults of the store.
    func window(at now: Timestamp) async throws(Fault) -> IssueWindow
}

/// A number that is reserved for this copy.
struct FixedIssueWindow: IssueWindows {
    let copy: Int

    func window(at now: Timestamp) async throws(Fault) -> IssueWindow {
        IssueWindow(copy: copy, first: Timestamp(milliseconds: 0), end: now + .seconds(1))
    }
}
