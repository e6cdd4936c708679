/// Tells when somebody else has committed to the store, so that several processes can share it and still cache. An engine that cannot say so in no time
/// has none, and whoever needs it caches nothing there.
public protocol StoreChanges: AnyObject, Sendable {
    /// Changes whenever what was read before may be out of date because another process wrote.
    var generation: UInt64 { get }

    /// Whether no other process has committed since this one last began to.
    var isLastCommitOwn: Bool { get }
}
