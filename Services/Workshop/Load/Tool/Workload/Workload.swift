/// The behaviour of one worker's users: it decides the next step of each.
///
/// One object per worker, used on that worker's thread only; it is called for each call, so it does no I/O and little work.
public protocol Workload: AnyObject {
    /// Names of what can be called; `Call.operation` is a place in it.
    var operations: [String] { get }

    /// A user begins a new iteration.
    func begin(_ user: inout User) -> Step

    /// The step after the end of a call (also of a failed one: `answer.failure`) or of a pause (`Answer.none`).
    func proceed(_ user: inout User, _ answer: Answer) -> Step
}

/// A user's next step.
public enum Step: Sendable {
    case call(Call)
    /// Think time, in nanoseconds.
    case pause(Nanoseconds)
    /// The iteration is over.
    case done
    /// The iteration is given up: the call that just ended counts as failed with this code, although it was answered.
    case failed(code: String, message: String)
}

/// One call to make.
public struct Call: Sendable {
    /// Place in `Workload.operations`.
    public var operation: Int
    /// The encoded message; for HTTP the whole request.
    public var payload: [UInt8]
    /// True when `proceed` looks at the answer; costs a copy.
    public var wantsAnswer: Bool
    /// Codes that count as success, for example `http_403` of a poll.
    public var tolerates: [String]

    public init(operation: Int, payload: [UInt8], wantsAnswer: Bool = false, tolerates: [String] = []) {
        self.operation = operation
        self.payload = payload
        self.wantsAnswer = wantsAnswer
        self.tolerates = tolerates
    }
}

/// A call ended in this way.
public struct Answer: Sendable {
    /// No answer: after a pause, and after a call without `wantsAnswer`.
    public static let none = Answer()

    /// The code of a failure; `nil` for a good answer.
    public var failure: String?
    public var message = ""
    /// HTTP only.
    public var status = 0
    /// HTTP only; names in lower case.
    public var headers: [(name: String, value: String)] = []
    public var body: [UInt8] = []

    public init(failure: String? = nil, message: String = "", status: Int = 0, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.failure = failure
        self.message = message
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// - Parameter name: In lower case.
    public func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}
