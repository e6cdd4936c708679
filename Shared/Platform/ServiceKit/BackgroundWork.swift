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

/// A part that may come to its end by itself, without the program taking notice.
///
/// A group that is stopping takes a part that ends before its turn for a failure, and cancels all others: calls under way, for example. So one whose work is
/// done waits for its turn.
struct EnduringPart: Service {
    let part: any Service

    func run() async throws {
        try await part.run()
        try? await gracefulShutdown()
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
