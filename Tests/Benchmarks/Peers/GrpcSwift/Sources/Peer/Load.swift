import GRPCCore
import Glibc
import GRPCNIOTransportHTTP2Posix

/// Keeps a number of unary calls in flight on one connection.
///
/// Prints calls per second, p50 and p99 in microseconds, failed calls, all calls, its own CPU time per call in microseconds. Warms up for a fifth
/// of the time.
struct Load {
    let port: Int
    let name: String
    let anchors: String
    let payloadBytes: Int
    let inFlight: Int
    let seconds: Double

    private struct Outcome: Sendable {
        var microseconds: [Double] = []
        var failed = 0
        var all = 0
    }

    func run() async throws {
        let client = try PeerClient.make(port: port, name: name, anchors: anchors)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await client.runConnections() }
            // The first call waits until there is a connection.
            _ = try await call(client)
            let cpu = cpuMicroseconds()
            let warm = ContinuousClock.now + .seconds(seconds * 0.2)
            let end = warm + .seconds(seconds)
            let outcome = await withTaskGroup(of: Outcome.self) { calls in
                for _ in 0..<inFlight { calls.addTask { await repeated(client, from: warm, until: end) } }
                return await calls.reduce(into: Outcome()) {
                    $0.microseconds += $1.microseconds
                    $0.failed += $1.failed
                    $0.all += $1.all
                }
            }
            let sorted = outcome.microseconds.sorted()
            guard !sorted.isEmpty else { throw RPCError(code: .unavailable, message: "no answers") }
            let cost = (cpuMicroseconds() - cpu) / Double(outcome.all)
            print(Double(sorted.count) / seconds, sorted[sorted.count / 2], sorted[sorted.count * 99 / 100], outcome.failed, outcome.all, cost)
            fflush(nil)
            // Calls under way are of no more interest.
            exit(0)
        }
    }

    private func repeated(
        _ client: GRPCClient<HTTP2ClientTransport.Posix>, from warm: ContinuousClock.Instant, until end: ContinuousClock.Instant
    ) async -> Outcome {
        var outcome = Outcome()
        var start = ContinuousClock.now
        while start < end {
            let size = try? await call(client)
            let now = ContinuousClock.now
            outcome.all += 1
            if size != payloadBytes {
                outcome.failed += 1
            } else if now >= warm, now <= end {
                outcome.microseconds.append((now - start) / .microseconds(1))
            }
            start = now
        }
        return outcome
    }

    private func call(_ client: GRPCClient<HTTP2ClientTransport.Posix>) async throws -> Int {
        try await client.unary(
            request: ClientRequest(message: EchoMessage(content: [UInt8](repeating: 0, count: payloadBytes))), descriptor: PeerService.echo,
            serializer: MessageEncoder<EchoMessage>(), deserializer: MessageDecoder<EchoMessage>(), options: .defaults
        ) { try $0.message.content.count }
    }

    private func cpuMicroseconds() -> Double {
        var used = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used)
        return Double(used.tv_sec) * 1e6 + Double(used.tv_nsec) / 1e3
    }
}
