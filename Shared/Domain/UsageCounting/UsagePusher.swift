internal import ContractRuntime
public import Contracts
internal import CoreMetrics
internal import Faults
public import Logging
internal import Synchronization

/// Brings what a service counted to `config`, once a second while there is something.
///
/// A batch that could not be brought is brought again under the same number, so that it counts once. Meanwhile events go on being counted in memory.
public final class UsagePusher: Sendable {
    /// Sums of one batch.
    static let batchSize = 500
    private static let interval: Duration = .seconds(1)
    /// After a failure.
    private static let pause: Duration = .seconds(5)

    private struct State {
        var waiting: [[UsageSum]] = []
        /// The number of the first that waits.
        var sequence: UInt64 = 1
        var isFailing = false
    }

    private let counter: UsageCounter
    private let usage: any Usage
    private let copy: String
    private let dataCenter: String
    private let logger: Logger
    private let state = Mutex(State())
    private let pushed = Counter(label: "boxoffice_usage_batches_pushed_total")
    private let failed = Counter(label: "boxoffice_usage_pushes_failed_total")

    /// - Parameters:
    ///   - copy: Another one for each process.
    ///   - dataCenter: Where it runs.
    public init(_ counter: UsageCounter, to usage: any Usage, copy: String = UsagePusher.randomCopy(), dataCenter: String, logger: Logger) {
        self.counter = counter
        self.usage = usage
        self.copy = copy
        self.dataCenter = dataCenter
        self.logger = logger
    }

    public static func randomCopy() -> String {
        var random = SystemRandomNumberGenerator()
        return String(random.next(), radix: 16) + String(random.next(), radix: 16)
    }

    /// Pushes until it is cancelled, and then what is left.
    public func run() async {
        while !Task.isCancelled {
            let isServed = await push()
            try? await Task.sleep(for: isServed ? Self.interval : Self.pause)
        }
        // The last calls have been answered: what they were is known now, and a task that was cancelled could not tell it.
        _ = await Task.detached { await self.push() }.value
    }

    /// Pushes what waits; not to be called twice at once.
    /// - Returns: False when something still waits.
    @discardableResult
    func push() async -> Bool {
        state.withLock { state in
            guard state.waiting.isEmpty else { return }
            let sums = counter.drain()
            state.waiting = stride(from: 0, to: sums.count, by: Self.batchSize).map { Array(sums[$0..<min($0 + Self.batchSize, sums.count)]) }
        }
        while let batch = next() {
            do {
                _ = try await usage.reportUsage(batch, context: CallContext(deadline: .now.advanced(by: .seconds(5))))
            } catch {
                note(failure: Fault.unexpected(error), of: batch)
                // Whatever is wrong with it, it would be wrong with it again.
                if Fault.unexpected(error).code == .invalidRequest { taken() } else { return false }
                continue
            }
            taken()
            note(failure: nil, of: batch)
        }
        return true
    }

    private func next() -> UsageBatch? {
        state.withLock { state in
            state.waiting.first.map { UsageBatch(copyID: copy, sequence: state.sequence, dataCenter: dataCenter, sums: $0) }
        }
    }

    private func taken() {
        state.withLock { state in
            state.waiting.removeFirst()
            state.sequence += 1
        }
    }

    private func note(failure: Fault?, of batch: UsageBatch) {
        let hasChanged = state.withLock { state in
            defer { state.isFailing = failure != nil }
            return state.isFailing != (failure != nil)
        }
        guard let failure else {
            pushed.increment()
            if hasChanged { logger.info("usage.push_resumed") }
            return
        }
        failed.increment()
        if hasChanged { logger.warning("usage.push_failed", metadata: ["code": "\(failure.code)", "sums": "\(batch.sums.count)"]) }
    }
}
