internal import NIOCore

/// Puts load on an HTTP server.
public struct HttpLoad: ServiceLoad {
    private let target: HttpTarget
    private let plan: RunPlan
    private let make: @Sendable (_ worker: Int, _ workers: Int) -> any Workload

    /// - Parameter make: The workload of each worker; its calls hold whole requests (`HttpRequestText`).
    public init(_ target: HttpTarget, plan: RunPlan, make: @escaping @Sendable (_ worker: Int, _ workers: Int) -> any Workload) {
        self.target = target
        self.plan = plan
        self.make = make
    }

    public func run(
        begun: @Sendable (LoadRun, ContinuousClock.Instant) -> Void, progress: @Sendable (LoadRun.Progress) -> Void
    ) async throws -> RunMeasurement {
        let (target, make, workers) = (target, make, plan.workers)
        return try await WorkerLoops.run(plan, begun: begun, progress: progress) { _, connections, loop in
            let transport = HttpTransport(target, connections: connections, on: loop)
            return (transport, transport.connect())
        } workload: {
            make($0, workers)
        }
    }
}
