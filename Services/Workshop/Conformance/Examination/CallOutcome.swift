internal import Frames

/// What became of a call.
enum CallOutcome<Answer: Sendable>: Sendable {
    case answer(Answer)
    case fault(WireFault)
}
