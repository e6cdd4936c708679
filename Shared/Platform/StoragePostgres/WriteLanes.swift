internal import Faults
internal import Glibc
internal import Storage

/// A plan with who waits for it.
struct PlannedWrite: LaneWork {
    let plan: Plan
    let interest: Interest
    /// It was lost once before, and is known not to be stored.
    var isSecond = false
    let deliver: @Sendable (Result<[any StoredRows]?, Fault>) -> Void

    func fail(_ fault: Fault) { deliver(.failure(fault)) }
}

/// Waits before a transaction runs again that others came between: never all at one moment.
enum RetryPause {
    /// For at least that long a transaction that others come between is tried again, however often that is. After a fail-over all waiting ones come
    /// at once, and eight tries are over within 50 ms.
    static let patience: Duration = .milliseconds(500)

    /// - Parameter number: The number of the try, from 1 on.
    static func sleep(beforeTry number: Int) { usleep(.random(in: 0...(UInt32(1000) << UInt32(min(number - 1, 7))))) }
}

extension Duration {
    var wholeMicroseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
