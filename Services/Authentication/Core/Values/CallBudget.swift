/// The time that is left for all calls of one step together.
package struct CallBudget: Sendable {
    private let end: ContinuousClock.Instant

    package init(_ span: Duration) { end = .now + span }

    package var left: Duration { max(.zero, end - .now) }
}
