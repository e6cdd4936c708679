public import ContractRuntime
internal import CoreMetrics
package import Logging
internal import Synchronization

/// Takes one line per request.
public struct RequestLog: Sendable {
    /// A request that was answered.
    public struct Line: Sendable {
        public let trace: TraceContext
        /// As sent back in `Adobe-Request-Id`.
        public let requestID: String
        public let method: String
        /// Template of the route.
        public let route: String
        public let status: Int
        public let microseconds: Int64
    }

    package let write: @Sendable (Line) -> Void

    public init(_ write: @escaping @Sendable (Line) -> Void) { self.write = write }

    /// The lines are events of the logger.
    package init(_ logger: Logger) {
        write = { line in
            logger.info(
                "request",
                metadata: [
                    "trace_id": .string(line.trace.traceID), "request": .string(line.requestID), "method": .string(line.method),
                    "route": .string(line.route), "status": .string(String(line.status)), "duration_us": .string(String(line.microseconds)),
                ])
        }
    }
}

/// Counts and times requests by route template, method and status; all labels are bounded.
final class RequestMetrics: Sendable {
    private struct Series: Hashable {
        let method: String
        let route: String
        let status: Int
    }

    private let known = Mutex<[Series: (counter: Counter, timer: CoreMetrics.Timer)]>([:])

    /// - Parameter spent: In nanoseconds.
    func record(method: String, route: String, status: Int, spent: Int64) {
        let series = Series(method: method, route: route, status: status)
        let (counter, timer) = known.withLock { known in
            if let instruments = known[series] { return instruments }
            let instruments = Self.instruments(series)
            known[series] = instruments
            return instruments
        }
        counter.increment()
        timer.recordNanoseconds(spent)
    }

    private static func instruments(_ series: Series) -> (counter: Counter, timer: CoreMetrics.Timer) {
        let dimensions = [("method", series.method), ("route", series.route), ("status", String(series.status))]
        return (
            Counter(label: "boxoffice_gateway_requests_total", dimensions: dimensions),
            CoreMetrics.Timer(label: "boxoffice_gateway_request_duration_seconds", dimensions: dimensions)
        )
    }
}
