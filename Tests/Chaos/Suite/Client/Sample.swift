/// One request of the load, as the verdict on a fault needs it.
struct Sample: Sendable {
    enum Result: Sendable, Equatable {
        case done
        case refused(Int)
        case excused
        case broken
        case late
        case wrong
    }

    let operation: Operation
    let begun: ContinuousClock.Instant
    let took: Duration
    let result: Result
    /// The trouble, or the reason why the connection broke.
    let remark: String?

    var isDone: Bool { result == .done }
    var ended: ContinuousClock.Instant { begun + took }
}
