internal import CoreMetrics
internal import Faults
internal import Memos

/// Counts of a server's calls; labels are bounded: methods that are offered, codes of `Fault`.
final class ServerMetrics: Sendable {
    private struct PerMethod: Sendable {
        let service: String
        let method: String
        let succeeded: Counter
        let duration: CoreMetrics.Timer
    }

    private struct Failure: Hashable {
        let method: Int?
        let code: Fault.Code
    }

    private let methods: [PerMethod]
    /// Far more than there are: a counter is found by its labels once, which costs as much as the rest of a small call.
    private let failures = Memo<Failure, Counter>(capacity: 4096)
    let connections = Meter(label: "boxoffice_rpc_server_connections")
    let handshakeFailures = Counter(label: "boxoffice_rpc_server_handshake_failures_total")
    let refusedConnections = Counter(label: "boxoffice_rpc_server_refused_connections_total")
    let slowReaders = Counter(label: "boxoffice_rpc_server_slow_readers_total")

    init(_ offered: [OfferedMethod]) {
        methods = offered.map { method in
            PerMethod(
                service: method.service, method: method.name, succeeded: Self.calls(method.service, method.name, "ok"),
                duration: CoreMetrics.Timer(
                    label: "boxoffice_rpc_server_call_duration_seconds",
                    dimensions: [("service", method.service), ("method", method.name)]))
        }
    }

    /// - Parameter count: Calls that were answered well at once, in one batch.
    func succeeded(_ method: Int, count: Int = 1) { methods[method].succeeded.increment(by: count) }

    func took(_ method: Int, since begun: ContinuousClock.Instant) {
        let span = begun.duration(to: .now)
        methods[method].duration.recordNanoseconds(span.components.seconds * 1_000_000_000 + span.components.attoseconds / 1_000_000_000)
    }

    /// - Parameter method: `nil` for a method that is not offered: its names are the peer's and would be labels without bound.
    func failed(_ method: Int?, _ code: Fault.Code) {
        failures.value(Failure(method: method, code: code)) {
            Self.calls(method.map { methods[$0].service } ?? "unknown", method.map { methods[$0].method } ?? "unknown", code.rawValue)
        }.increment()
    }

    private static func calls(_ service: String, _ method: String, _ code: String) -> Counter {
        Counter(label: "boxoffice_rpc_server_calls_total", dimensions: [("service", service), ("method", method), ("code", code)])
    }
}
