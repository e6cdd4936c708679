public import Logging
internal import NIOCore

/// Puts load on a service over the wire.
public struct WireLoad: ServiceLoad {
    private let target: WireTarget
    private let methods: [PreparedMethod]
    private let plan: RunPlan
    private let logger: Logger

    /// - Parameter methods: At least one.
    public init(_ target: WireTarget, methods: [PreparedMethod], plan: RunPlan, logger: Logger) {
        self.target = target
        self.methods = methods
        self.plan = plan
        self.logger = logger
    }

    public func run(
        begun: @Sendable (LoadRun, ContinuousClock.Instant) -> Void, progress: @Sendable (LoadRun.Progress) -> Void
    ) async throws -> RunMeasurement {
        let (target, methods, workers, logger) = (target, methods, plan.workers, logger)
        return try await WorkerLoops.run(plan, begun: begun, progress: progress) { _, connections, loop in
            let transport = WireTransport(target, methods: methods, connections: connections, on: loop, logger: logger)
            return (transport, transport.connect())
        } workload: {
            MethodMix(methods, worker: $0, workers: workers)
        }
    }
}
