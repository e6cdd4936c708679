/// Tells when somebody else has committed to the store, so that several processes can share it and still cache. It is asked with every look-up, and
/// must answer from memory.
public protocol StoreChanges: AnyObject, Sendable {
    /// Changes whenever what was read before may be out of date because another process wrote.
    var generation: UInt64 { get }

    /// True when no other process has committed since this one last began to.
    var isLastCommitOwn: Bool { get }
}
