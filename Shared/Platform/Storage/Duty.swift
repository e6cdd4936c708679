/// The right to do work that one copy of a service at a time does: sweeping a table, for example.
public struct Duty: Sendable, Hashable {
    /// Grows when the duty goes to another copy. A program that hears of the work outside of the store must not listen to a copy that was late.
    public let fence: Int64

    package init(fence: Int64) { self.fence = fence }

    /// Where the copies of a store do not share duties.
    package static let everyone = Duty(fence: 0)
}

extension Store {
    /// Takes a duty, or says that this copy has it still. Where copies are on several hosts one of them has it. It has it until it gives it back when
    /// it ends, or 30 s after it was last heard of. In a SQLite file every copy has it: what is done twice there costs little, and harms nothing.
    /// - Parameter name: Unique within the store, for example `sweep session`.
    /// - Returns: `nil`: another copy does the work, or the store does not answer.
    public func duty(_ name: String) async -> Duty? { await engine.duty(name) }
}
