internal import ContractRuntime
internal import Faults
internal import GatewayEdge
internal import Synchronization

/// The answer of a peer to a page that waits for it only briefly.
enum BriefAnswer<Value: Sendable>: Sendable {
    case known(Value)
    /// It is still awaited. With what was answered to a page before, where that is not long ago.
    case late(Value?)
    case failed(any Error)

    /// What can be shown.
    var value: Value? {
        switch self {
        case .known(let value): value
        case .late(let former): former
        case .failed: nil
        }
    }

    var isLate: Bool { if case .late = self { true } else { false } }

    /// True where the service does not have the call, as one of an older release.
    var isUnimplemented: Bool { if case .failed(let error as Fault) = self { error.code == .unimplemented } else { false } }
}

/// Asks a peer for a page that must not wait for it. An answer that comes later is kept for the next page; until it comes, nobody asks again.
final class BriefWait<Value: Sendable>: Sendable {
    /// For how long a page waits: the rest of it takes a few milliseconds, and all of it is to take less than 300 (dashboard §7).
    static var patience: Duration { .milliseconds(200) }
    /// For how long an answer is of use to pages whose own question is late.
    private static var kept: Duration { .seconds(60) }

    private struct State {
        var isUnderWay = false
        var latest: (answer: Result<Value, any Error>, at: ContinuousClock.Instant)?
        var former: (value: Value, at: ContinuousClock.Instant)?
        var waiting: [AsyncStream<Void>.Continuation] = []
    }

    private let state = Mutex(State())

    /// - Parameter ask: Has to end by itself, by a deadline of its own.
    func answer(
        within patience: Duration = BriefWait.patience, _ ask: @escaping @Sendable () async throws -> Value
    ) async -> BriefAnswer<Value> {
        let (news, end) = AsyncStream.makeStream(of: Void.self)
        let begun = ContinuousClock.now
        let mustAsk = state.withLock { state in
            state.waiting.append(end)
            defer { state.isUnderWay = true }
            return !state.isUnderWay
        }
        if mustAsk {
            Task {
                do { take(.success(try await ask())) } catch { take(.failure(error)) }
            }
        }
        let timer = Task {
            try? await Task.sleep(for: patience)
            end.finish()
        }
        for await _ in news {}
        timer.cancel()
        return state.withLock { state in
            if let latest = state.latest, latest.at >= begun {
                switch latest.answer {
                case .success(let value): return .known(value)
                case .failure(let error): return .failed(error)
                }
            }
            return .late(state.former.flatMap { $0.at.duration(to: .now) < Self.kept ? $0.value : nil })
        }
    }

    private func take(_ answer: Result<Value, any Error>) {
        let waiting = state.withLock { state in
            state.latest = (answer, .now)
            if case .success(let value) = answer { state.former = (value, .now) }
            state.isUnderWay = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for end in waiting { end.finish() }
    }
}

/// Asks each copy of a service for a page that must not wait for any of them.
final class CopyAnswers<Value: Sendable>: Sendable {
    /// An answer that comes later than this is of no use.
    static var limit: Duration { .seconds(1) }

    /// By the address of the copy.
    private let waits = Mutex<[String: BriefWait<Value>]>([:])

    /// - Returns: In the order of the copies.
    func ask(_ copies: [ClusterView.Question<Value>], _ context: CallContext) async -> [BriefAnswer<Value>] {
        let waits = waits.withLock { waits in
            waits = Dictionary(copies.map { ($0.address, waits[$0.address] ?? BriefWait()) }) { first, _ in first }
            return copies.map { waits[$0.address] ?? BriefWait() }
        }
        return await withTaskGroup(of: (Int, BriefAnswer<Value>).self) { group in
            for (index, copy) in copies.enumerated() {
                group.addTask { (index, await waits[index].answer { try await copy.ask(context.child(within: Self.limit)) }) }
            }
            var answers = copies.map { _ in BriefAnswer<Value>.late(nil) }
            for await (index, answer) in group { answers[index] = answer }
            return answers
        }
    }
}
