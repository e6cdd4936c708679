public import Clocks
public import Faults

/// What one copy of a service may date its tokens with: a number that no other copy has at that moment, and the seconds that are its own.
public struct IssueWindow: Sendable, Equatable {
    /// One of `MediaTokenIssuer.copies`.
    public var copy: Int
    /// The first second that it may give; earlier ones may have been given by another process.
    public var first: Timestamp
    /// Only seconds before it may be given: whoever has the number next begins there.
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
    /// - Returns: A window that `now` lies before the end of.
    /// - Throws: `unavailable` when the number is somebody else's now, or cannot be held longer; faults of the store.
    func window(at now: Timestamp) async throws(Fault) -> IssueWindow
}

/// A number that is known to be this copy's alone.
struct FixedIssueWindow: IssueWindows {
    let copy: Int

    func window(at now: Timestamp) async throws(Fault) -> IssueWindow {
        IssueWindow(copy: copy, first: Timestamp(milliseconds: 0), end: now + .seconds(1))
    }
}
