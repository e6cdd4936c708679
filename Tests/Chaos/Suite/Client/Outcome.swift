/// The result of a request.
enum Outcome: Sendable {
    /// As it should be.
    case done(Answer)
    /// A documented "not now": 503 or 429 with `Retry-After`, or what the fault's own rule lets the operation answer.
    case refused(status: Int, saying: String)
    /// As `refused`, by what a fault that is over leaves behind for a while, as documented; no failure of the fault of the moment.
    case excused(status: Int)
    /// The connection could not be made, or ended before the answer.
    case broken(String)
    /// No answer within the deadline.
    case late
    /// An answer that may never come: another status, a refusal without `Retry-After`, other facts than those acknowledged.
    case wrong(String)

    var answer: Answer? { if case .done(let answer) = self { answer } else { nil } }

    var isDone: Bool { answer != nil }
}
