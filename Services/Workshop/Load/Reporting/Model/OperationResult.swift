/// The figures of one operation of the workload.
public struct OperationResult: Codable, Sendable, Equatable {
    /// `GetConfiguration`, or a step such as `regcode`.
    public var name: String
    public var sent: Int
    public var succeeded: Int
    public var failed: Int
    public var responseTime: Latencies
    public var serviceTime: Latencies
    public var errors: [ErrorCount]

    public init(
        name: String, sent: Int, succeeded: Int, failed: Int, responseTime: Latencies, serviceTime: Latencies, errors: [ErrorCount] = []
    ) {
        self.name = name
        self.sent = sent
        self.succeeded = succeeded
        self.failed = failed
        self.responseTime = responseTime
        self.serviceTime = serviceTime
        self.errors = errors
    }
}
