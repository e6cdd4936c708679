/// A report's view of a service's metrics: a chart with a few lines, each made of one or more of the service's own series.
struct MetricPanel: Sendable {
    enum Unit: String, Codable, Sendable {
        case perSecond = "1/s"
        case milliseconds = "ms"
        case count = ""
    }

    /// A line comes from a metric in one of these ways.
    enum Line: Sendable {
        /// A counter's growth a second, summed over all its series.
        case rate(String, name: String)
        /// The same, one line for each value of a label.
        case rates(String, by: String)
        /// A gauge, summed over its series.
        case gauge(String, name: String)
        /// The mean of what a histogram counted since the scrape before, times a factor.
        case mean(String, name: String, factor: Double)
        /// A quantile of the same, as far as the buckets tell.
        case quantile(String, Double, name: String, factor: Double)
    }

    let title: String
    let unit: Unit
    let lines: [Line]

    /// The panels of every service of the cluster; a panel is left out when the service does not have its metrics.
    static let all: [MetricPanel] = [
        MetricPanel(title: "HTTP answers by status", unit: .perSecond, lines: [.rates("boxoffice_gateway_requests_total", by: "status")]),
        MetricPanel(title: "RPC answers by code", unit: .perSecond, lines: [.rates("boxoffice_rpc_server_calls_total", by: "code")]),
        MetricPanel(
            title: "Time inside the service", unit: .milliseconds,
            lines: timed("boxoffice_gateway_request_duration_seconds", "HTTP") + timed("boxoffice_rpc_server_call_duration_seconds", "RPC")),
        MetricPanel(
            title: "Refused at the door", unit: .perSecond,
            lines: [
                .rate("boxoffice_gateway_throttled_total", name: "throttled"),
                .rate("boxoffice_gateway_overload_refused_total", name: "overload"),
                .rate("boxoffice_gateway_connections_refused_total", name: "HTTP connections"),
                .rate("boxoffice_rpc_server_refused_connections_total", name: "RPC connections"),
                .rate("boxoffice_rpc_server_handshake_failures_total", name: "handshakes failed"),
                .rate("boxoffice_rpc_server_slow_readers_total", name: "slow readers"),
                .rate("boxoffice_storage_refused_total", name: "writes, store full"),
            ]),
        MetricPanel(
            title: "Writes waiting for the store", unit: .count, lines: [.gauge("boxoffice_storage_queue_depth_writes", name: "waiting")]),
        MetricPanel(
            title: "Connections", unit: .count,
            lines: [
                .gauge("boxoffice_gateway_connections", name: "HTTP"), .gauge("boxoffice_rpc_server_connections", name: "RPC, from callers"),
                .gauge("boxoffice_rpc_client_connections", name: "RPC, to peers"),
            ]),
        MetricPanel(title: "Calls to peers by code", unit: .perSecond, lines: [.rates("boxoffice_rpc_client_calls_total", by: "code")]),
        MetricPanel(title: "Time of calls to peers", unit: .milliseconds, lines: timed("boxoffice_rpc_client_call_duration_seconds", "RPC")),
        MetricPanel(
            title: "Store commits", unit: .perSecond,
            lines: [
                .rate("boxoffice_storage_commits_total", name: "commits (one fsync each)"),
                .rate("boxoffice_storage_batch_size_writes_sum", name: "writes"), .rate("boxoffice_storage_failed_commits_total", name: "failed"),
            ]),
        MetricPanel(title: "Time of a commit", unit: .milliseconds, lines: timed("boxoffice_storage_commit_seconds", "commit")),
        MetricPanel(
            title: "Writes in one commit", unit: .count,
            lines: [
                .mean("boxoffice_storage_batch_size_writes", name: "mean", factor: 1),
                .quantile("boxoffice_storage_batch_size_writes", 0.99, name: "p99", factor: 1),
            ]),
    ]

    private static func timed(_ histogram: String, _ what: String) -> [Line] {
        [.mean(histogram, name: "\(what), mean", factor: 1000), .quantile(histogram, 0.99, name: "\(what), p99", factor: 1000)]
    }
}
