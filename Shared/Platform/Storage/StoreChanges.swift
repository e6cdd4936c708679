/// Tells when somebody else has committed to the store, so that several processes can share it and still cache: asked with every look-up, it must answer from memory.
public protocol StoreChanges: AnyObject, Sendable {
    /// Changes whenever what was read before may be out of date because another process wrote.
    var generation: UInt64 { get }

    /// Whether no other process has committed since this one last began to.
    var isLastCommitOwn: Bool { get }
}
