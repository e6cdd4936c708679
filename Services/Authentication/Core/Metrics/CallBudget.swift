/// The time that is left for all calls of one step together.
struct CallBudget: Sendable {
    private let end: ContinuousClock.Instant

    init(_ span: Duration) { end = .now + span }

    var left: Duration { max(.zero, end - .now) }
}
