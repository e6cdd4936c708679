import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

/// Sends requests, each within its deadline, judges the answers and notes them. Follows nothing, tries nothing again.
struct Caller: Sendable {
    /// The gateway gives up after 10 s (`requestSeconds` of its settings) and answers; a request without an answer after this hangs.
    static let deadline: Duration = .seconds(11)
    private static let bodyLimit = 4 * 1024 * 1024

    let client: HTTPClient
    let tally: Tally
    /// Documented refusals beside 503 that an operation may answer at the moment.
    let tolerated: Tolerance
    /// The balancer in front of several gateways; `nil`: none.
    var balancer: Balancer?

    /// - Parameter authority: PEM file of the one authority that is trusted for HTTPS, whatever name a certificate has. A balancer that knows its
    ///   hosts by address does so. `nil`: the system's, with their names.
    static func makeClient(trusting authority: String? = nil) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 512
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = .seconds(5)
        if let authority {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(authority)
            tls.certificateVerification = .noHostnameVerification
            configuration.tlsConfiguration = tls
            // Balancers speak it to what is behind them; and a request that breaks breaks alone.
            configuration.httpVersion = .http1Only
        }
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// - Parameters:
    ///   - expected: Statuses of a good answer.
    ///   - check: Says what is wrong with a good answer; `nil` when nothing is.
    func send(
        _ operation: Operation, _ method: HTTPMethod, _ url: String, expecting expected: Set<Int>, headers: [(String, String)] = [],
        body: String? = nil, check: (Answer) -> String? = { _ in nil }
    ) async -> Outcome {
        var request = HTTPClientRequest(url: balancer?.address(of: url) ?? url)
        request.method = method
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        tally.begin()
        let begun = ContinuousClock.now
        let outcome = await settled(request, operation, expected, check)
        note(outcome, operation, begun)
        return outcome
    }

    /// With a balancer no longer than it keeps a connection.
    private func settled(
        _ request: HTTPClientRequest, _ operation: Operation, _ expected: Set<Int>, _ check: (Answer) -> String?
    ) async -> Outcome {
        let call = Task { try await execute(request) }
        guard let balancer else { return outcome(await call.result, operation, expected, check) }
        let patience = Task { try await balancer.waitUntilGone(request.url) }
        let watch = Task { if (try? await patience.value) != nil { call.cancel() } }
        let result = await call.result
        patience.cancel()
        await watch.value
        return outcome(result, operation, expected, check)
    }

    private func execute(_ request: HTTPClientRequest) async throws -> Answer {
        let response = try await client.execute(request, deadline: .now() + TimeAmount(Self.deadline))
        let content = try await response.body.collect(upTo: Self.bodyLimit)
        return Answer(
            status: Int(response.status.code), headers: response.headers.map { ($0.name, $0.value) }, body: Array(content.readableBytesView))
    }

    private func outcome(
        _ result: Result<Answer, any Error>, _ operation: Operation, _ expected: Set<Int>, _ check: (Answer) -> String?
    ) -> Outcome {
        do {
            return judge(try result.get(), operation, expected, check)
        } catch let error as HTTPClientError where error == .deadlineExceeded || error == .readTimeout {
            return .late
        } catch {
            return .broken("\(error)")
        }
    }

    private func judge(_ answer: Answer, _ operation: Operation, _ expected: Set<Int>, _ check: (Answer) -> String?) -> Outcome {
        if expected.contains(answer.status) { return check(answer).map { .wrong("\(operation.rawValue): \($0)") } ?? .done(answer) }
        if [503, 429].contains(answer.status) {
            if let seconds = answer.retryAfter, seconds >= 1 { return .refused(status: answer.status, saying: answer.text) }
            return .wrong("\(operation.rawValue) was answered \(answer.status) without Retry-After")
        }
        switch tolerated.view(of: answer.status, operation) {
        case .partOfTheFault: return .refused(status: answer.status, saying: answer.text)
        case .aftermath: return .excused(status: answer.status)
        case .notTolerated: break
        }
        return .wrong("\(operation.rawValue) was answered \(answer.status): \(answer.text.prefix(120))")
    }

    private func note(_ outcome: Outcome, _ operation: Operation, _ begun: ContinuousClock.Instant) {
        let (result, remark): (Sample.Result, String?) =
            switch outcome {
            case .done: (.done, nil)
            case .refused(let status, let text): (.refused(status), text)
            case .excused: (.excused, nil)
            case .broken(let reason): (.broken, reason)
            case .late: (.late, nil)
            case .wrong(let what): (.wrong, what)
            }
        tally.end(Sample(operation: operation, begun: begun, took: ContinuousClock.now - begun, result: result, remark: remark))
    }
}
