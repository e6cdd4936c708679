/// The right to do work that one copy of a service at a time does: sweeping a table, for example.
public struct Lease: Sendable, Hashable {
    /// Grows when the lease goes to another copy. A program that hears of the work outside of the store must not listen to a copy that was late.
    public let fence: Int64

    package init(fence: Int64) { self.fence = fence }

    /// Where the copies of a store do not share leases.
    package static let everyone = Lease(fence: 0)
}

extension Store {
    /// Takes a lease, or says that this copy has it still. Where copies are on several hosts one of them has it. It has it until it gives it back when
    /// it ends, or 30 s after it was last heard of. In a SQLite file every copy has it: what is done twice there costs little, and harms nothing.
    /// - Parameter name: Unique within the store, for example `sweep session`.
    /// - Returns: `nil`: another copy does the work, or the store does not answer.
    public func lease(_ name: String) async -> Lease? { await engine.lease(name) }
}
