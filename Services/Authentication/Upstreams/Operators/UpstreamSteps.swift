internal import BridgeClient
internal import Contracts

/// The steps of a check, as they are written down one after another; after one that the rest depends on has failed nothing more is tried.
struct UpstreamSteps: Sendable {
    private(set) var steps: [UpstreamCheckStep] = []

    mutating func passed(_ step: UInt32, _ title: String, expected: String, seen: String, trace: String = "") {
        steps.append(UpstreamCheckStep(step: step, title: title, outcome: .passed, expected: expected, seen: seen, trace: trace))
    }

    mutating func failed(_ step: UInt32, _ title: String, expected: String, seen: String, advice: String, trace: String = "") {
        steps.append(UpstreamCheckStep(step: step, title: title, outcome: .failed, expected: expected, seen: seen, advice: advice, trace: trace))
    }

    mutating func notNeeded(_ step: UInt32, _ title: String, seen: String) {
        steps.append(UpstreamCheckStep(step: step, title: title, outcome: .notNeeded, seen: seen))
    }

    mutating func notReached(_ titles: [(step: UInt32, title: String)]) {
        steps += titles.map { UpstreamCheckStep(step: $0.step, title: $0.title, outcome: .notReached) }
    }

    /// A call that brought nothing.
    mutating func failed<Value>(
        _ step: UInt32, _ title: String, expected: String, _ operation: BridgeOperation, _ answer: UpstreamProbe.Answer<Value>
    ) {
        guard let failure = answer.failure else { return }
        failed(
            step, title, expected: expected, seen: "\(BridgeWords.seen(failure)), after \(answer.milliseconds) ms",
            advice: BridgeWords.advice(operation, failure), trace: answer.trace)
    }
}
