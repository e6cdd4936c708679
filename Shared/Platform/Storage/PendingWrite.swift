package import Faults

/// A caller's write on its way to a commit.
package struct PendingWrite: Sendable {
    /// Tells the caller its result.
    package typealias Delivery = @Sendable () -> Void

    /// Runs the caller's statements; the delivery is due once they are committed. May run again after a rollback.
    package let perform: @Sendable (Database) throws -> Delivery
    package let fail: @Sendable (Fault) -> Void
    package let interest: Interest

    init<Value: Sendable>(
        _ interest: Interest, _ body: @escaping @Sendable (Database) throws -> Value, whenCommitted: (@Sendable (Value) -> Void)?,
        deliver: @escaping @Sendable (Result<Value, Fault>) -> Void
    ) {
        self.interest = interest
        perform = { database in
            let value = try body(database)
            return {
                whenCommitted?(value)
                deliver(.success(value))
            }
        }
        fail = { deliver(.failure($0)) }
    }
}
