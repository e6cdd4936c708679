import LoadReporting
import LoadTool

/// Calls of one request each, over keep-alive connections; keeps the times of good answers and of refusals apart.
final class RepeatedRequests: Workload {
    let operations: [String]
    private let requests: [[UInt8]]
    private var next: Int
    private let stride: Int
    private let times: OverloadTimes

    /// - Parameters:
    ///   - operation: Its name in reports.
    ///   - requests: Whole requests, taken in turn.
    ///   - times: Gets what this worker measured.
    init(_ operation: String, _ requests: [[UInt8]], worker: Int, workers: Int, times: OverloadTimes) {
        operations = [operation]
        self.requests = requests
        self.times = times
        (next, stride) = (worker, workers)
    }

    /// When the iteration of a user began, which is when it was due.
    private final class Begin {
        var instant = ContinuousClock.now
    }

    func begin(_ user: inout User) -> Step {
        let begin = user.notes as? Begin ?? Begin()
        begin.instant = .now
        user.notes = begin
        next += stride
        return .call(Call(operation: 0, payload: requests[next % requests.count], wantsAnswer: true, tolerates: ["http_503"]))
    }

    func proceed(_ user: inout User, _ answer: LoadTool.Answer) -> Step {
        guard let begin = user.notes as? Begin else { return .done }
        times.note(answer, took: begin.instant.duration(to: .now))
        return .done
    }
}
