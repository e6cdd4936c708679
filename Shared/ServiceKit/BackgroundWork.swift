internal import ServiceLifecycle

/// Work without an end of its own.
struct BackgroundWork: Service {
    let name: String
    let work: @Sendable () async throws -> Void

    func run() async throws {
        try await cancelWhenGracefulShutdown { [work] in
            do { try await work() } catch is CancellationError {}
        }
    }
}

/// Does nothing until its turn to stop comes.
struct StopAction: Service {
    let stop: @Sendable () async -> Void

    func run() async throws {
        try? await gracefulShutdown()
        await stop()
    }
}
