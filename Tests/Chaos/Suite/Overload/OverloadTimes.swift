import LoadReporting
import LoadTool
import Synchronization

/// How long accepted and refused calls took.
final class OverloadTimes: Sendable {
    struct Contents: Sendable {
        var accepted = LatencyHistogram()
        var refused = LatencyHistogram()
        /// Answers that are neither, by kind.
        var others: [String: Int] = [:]
        var isMeasuring = false
    }

    private let contents = Mutex(Contents())

    var result: Contents { contents.withLock { $0 } }

    /// The warm-up is over.
    func measure() { contents.withLock { $0.isMeasuring = true } }

    func note(_ answer: LoadTool.Answer, took: Duration) {
        let nanoseconds = took.components.seconds * 1_000_000_000 + took.components.attoseconds / 1_000_000_000
        contents.withLock { contents in
            guard contents.isMeasuring else { return }
            switch answer.status {
            case 200: contents.accepted.record(nanoseconds)
            case 503 where answer.header("retry-after") != nil: contents.refused.record(nanoseconds)
            default: contents.others[answer.failure ?? "status \(answer.status)", default: 0] += 1
            }
        }
    }
}
