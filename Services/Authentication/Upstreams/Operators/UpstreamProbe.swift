internal import BridgeClient
internal import Clocks
internal import Contracts
internal import OutboundHttp

/// Makes single calls to an upstream for whoever checks it: past breakers and budgets, once, and with the answer as it came.
struct UpstreamProbe: Sendable {
    /// A check makes more calls at once than upstreams take from one address: it waits where it is told to.
    private static let longestPause: Duration = .seconds(2)
    private static let mostPauses = 2
    private static let visitPause: Duration = .seconds(1)

    let line: UpstreamConnection
    let upstream: BridgeUpstream

    /// The result of a call.
    struct Answer<Value: Sendable>: Sendable {
        let result: Result<Value, BridgeFailure>
        /// `nil`: none came.
        let answer: OutboundAnswer?
        let milliseconds: Int64
        /// Why none came, in the words of the transport.
        let cause: String

        var trace: String { answer.map { UpstreamTrace.of($0) } ?? "" }

        var value: Value? { try? result.get() }

        var failure: BridgeFailure? { if case .failure(let failure) = result { failure } else { nil } }

        /// No connection came about.
        var isUnreachable: Bool { answer == nil }
    }

    /// - Parameters:
    ///   - headers: Beside those that the call has.
    ///   - waits: True when a call that is one too many is made again after a moment.
    func ask<Value: Sendable>(
        _ call: BridgeCall, bearer: String?, for device: BridgeDevice?, headers: [OutboundRequest.Header] = [], waits: Bool = true,
        _ read: (OutboundAnswer) throws(BridgeFailure) -> Value
    ) async -> Answer<Value> {
        var request = line.request(call, bearer, device, upstream)
        request.headers += headers
        let limit = upstream.timeout(call.operation.timeLimit)
        for _ in 0..<(waits ? Self.mostPauses : 0) {
            let answer = await send(request, limit, largest: upstream.largestAnswer(call.operation), read)
            guard case .throttled(let pause)? = answer.failure, pause <= Self.longestPause else { return answer }
            try? await Task.sleep(for: pause)
        }
        return await send(request, limit, largest: upstream.largestAnswer(call.operation), read)
    }

    /// A browser's visit, which ends at the first answer. One that is one too many is made again after a moment, as calls are.
    func visit(_ url: String) async -> Answer<Int> {
        for _ in 0..<Self.mostPauses {
            let answer = await look(url)
            guard answer.value == 429 else { return answer }
            try? await Task.sleep(for: Self.visitPause)
        }
        return await look(url)
    }

    private func look(_ url: String) async -> Answer<Int> {
        let request = OutboundRequest(.get, url, headers: [("Accept", "text/html")])
        return await send(request, upstream.timeout(.session), largest: upstream.largestAnswer(.list)) { answer throws(BridgeFailure) in answer.status
        }
    }

    private func send<Value: Sendable>(
        _ request: OutboundRequest, _ limit: Duration, largest: Int, _ read: (OutboundAnswer) throws(BridgeFailure) -> Value
    ) async -> Answer<Value> {
        let start = ContinuousClock.now
        let answer: OutboundAnswer
        do throws(OutboundFailure) {
            let route = try line.routes.route(
                to: upstream, peer: "check of upstream \(upstream.id)", responseTimeout: limit, connections: 4)
            answer = try await line.transport.send(request, by: route, timeLeft: upstream.connectTimeout + limit)
        } catch {
            return Answer(
                result: .failure(.unreachable(error.kind)), answer: nil, milliseconds: start.duration(to: .now).wholeMilliseconds, cause: error.cause)
        }
        let milliseconds = start.duration(to: .now).wholeMilliseconds
        let result: Result<Value, BridgeFailure>
        do throws(BridgeFailure) {
            guard answer.body.count <= largest else { throw .unusable("the body is larger than the limit") }
            result = .success(try read(answer))
        } catch {
            result = .failure(error)
        }
        return Answer(result: result, answer: answer, milliseconds: milliseconds, cause: "")
    }
}

/// The steps of a check, as they are written down one after another. After a failed step that the rest depends on, nothing more is tried.
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
            step, title, expected: expected, seen: "\(UpstreamWords.seen(failure)), after \(answer.milliseconds) ms",
            advice: UpstreamWords.advice(operation, failure), trace: answer.trace)
    }
}
