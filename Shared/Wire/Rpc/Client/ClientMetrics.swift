internal import CoreMetrics
internal import Faults
internal import Memos

/// Counts of a client's calls to one peer.
struct ClientMetrics: Sendable {
    private let peer: String
    private let succeeded: Counter
    /// The peer may send codes that nobody knows: bounded.
    private let failed = Memo<Fault.Code, Counter>(capacity: 256)
    let duration: CoreMetrics.Timer
    let retries: Counter
    let connectFailures: Counter
    let connections: Meter
    /// Times that a copy was taken out of service.
    let bans: Counter

    init(peer: String) {
        self.peer = peer
        let dimensions = [("peer", peer)]
        succeeded = Self.calls(peer, "ok")
        duration = CoreMetrics.Timer(label: "boxoffice_rpc_client_call_duration_seconds", dimensions: dimensions)
        retries = Counter(label: "boxoffice_rpc_client_retries_total", dimensions: dimensions)
        connectFailures = Counter(label: "boxoffice_rpc_client_connect_failures_total", dimensions: dimensions)
        bans = Counter(label: "boxoffice_rpc_client_copies_out_total", dimensions: dimensions)
        connections = Meter(label: "boxoffice_rpc_client_connections", dimensions: dimensions)
    }

    private static func calls(_ peer: String, _ code: String) -> Counter {
        Counter(label: "boxoffice_rpc_client_calls_total", dimensions: [("peer", peer), ("code", code)])
    }

    func succeeded(nanoseconds: Int64) {
        succeeded.increment()
        duration.recordNanoseconds(nanoseconds)
    }

    func failed(_ code: Fault.Code, nanoseconds: Int64) {
        failed.value(code) { Self.calls(peer, code.rawValue) }.increment()
        duration.recordNanoseconds(nanoseconds)
    }
}
