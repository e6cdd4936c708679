public import ContractRuntime
internal import Logging

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

    let write: @Sendable (Line) -> Void

    public init(_ write: @escaping @Sendable (Line) -> Void) { self.write = write }

    /// The lines are events of the logger.
    init(_ logger: Logger) {
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
