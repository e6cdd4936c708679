internal import NIOCore
internal import NIOPosix

/// Threads for the workers of a run, with their connections.
enum WorkerLoops {
    /// Connects on as many threads as the plan has workers, runs, and ends the threads.
    /// - Parameters:
    ///   - connect: Makes a worker's transport and begins to connect it; runs on the event loop. Gets the worker and its number of connections.
    ///   - workload: Makes a worker's workload; runs on the event loop.
    static func run<Transport: CallTransport & Sendable>(
        _ plan: RunPlan, begun: @Sendable (LoadRun, ContinuousClock.Instant) -> Void, progress: @Sendable (LoadRun.Progress) -> Void,
        connect: @escaping @Sendable (Int, Int, any EventLoop) -> (Transport, EventLoopFuture<Void>),
        workload: @escaping @Sendable (Int) -> any Workload
    ) async throws -> RunMeasurement {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: plan.workers)
        let outcome: Result<RunMeasurement, any Error>
        do {
            let loops = Array(group.makeIterator()) as [any EventLoop]
            let transports = try await transports(plan, loops, connect)
            let run = LoadRun(plan, eventLoops: loops)
            outcome = .success(
                try await run.measure({ index, _ in (workload(index), transports[index]) }, started: { begun(run, $0) }, progress: progress))
        } catch {
            outcome = .failure(error)
        }
        try await group.shutdownGracefully()
        return try outcome.get()
    }

    private static func transports<Transport: CallTransport & Sendable>(
        _ plan: RunPlan, _ loops: [any EventLoop], _ connect: @escaping @Sendable (Int, Int, any EventLoop) -> (Transport, EventLoopFuture<Void>)
    ) async throws -> [Transport] {
        var transports: [Transport] = []
        for (index, loop) in loops.enumerated() {
            let connections = max(1, WorkerSettings.part(plan.connections, index, loops.count))
            let future: EventLoopFuture<Transport> = loop.flatSubmit {
                let (transport, connected) = connect(index, connections, loop)
                return connected.map { transport }
            }
            transports.append(try await future.get())
        }
        return transports
    }
}
