internal import Clocks
internal import Storage

/// Takes letters of some kinds to where they belong.
protocol OutboxCourier: Sendable {
    /// Tries once. After refused credentials the item's progress says so: then new ones are made.
    func deliver(_ item: OutboxItem) async -> DeliveryOutcome
    /// The effects of a letter's end on our own state, in the commit that takes it out of the queue.
    func settle(_ item: OutboxItem, _ end: DeliveryEnd, in database: Database, _ touched: inout Touched, now: Timestamp) throws
    /// An operator sends a dead letter again: undoes what giving up did.
    /// - Returns: False when there is nothing left to send.
    func reopen(_ item: OutboxItem, in database: Database, _ touched: inout Touched, now: Timestamp) throws -> Bool
}

extension OutboxCourier {
    func settle(_ item: OutboxItem, _ end: DeliveryEnd, in database: Database, _ touched: inout Touched, now: Timestamp) throws {}

    func reopen(_ item: OutboxItem, in database: Database, _ touched: inout Touched, now: Timestamp) throws -> Bool { true }
}

/// How a letter left the queue.
enum DeliveryEnd: Hashable, Sendable {
    case done
    /// The other side never had what was to be changed.
    case absent
    /// An earlier try, which seemed lost, must have worked.
    case assumed
    /// - Parameter isUnclear: A try may have had its effect all the same.
    case givenUp(isUnclear: Bool)
}
