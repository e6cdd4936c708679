internal import Logging
public import ServiceLifecycle
internal import Synchronization

/// Keeps a web server from being cancelled, and from being asked to stop before it listens.
///
/// Either would end the process by a trap where Hummingbird has accepted a connection and not begun to serve it. SwiftNIO insists that each channel
/// is taken to its end. So the server runs in a task of its own, and is asked to stop once it listens. This holds also when its runner is cancelled,
/// for example because another listener of the program has found its port in use.
public final class ListenerShield: Sendable {
    private struct State {
        var listens = false
        var group: ServiceGroup?
        var mustStop = false
    }

    /// How long the server of a cancelled task may take to stop.
    private static let patience: Duration = .seconds(2)
    private let state = Mutex(State())

    public init() {}

    /// To be called when the server listens.
    public func hasBegun() { stopWhenDue { $0.listens = true } }

    /// Runs the server, which tells of its start by `hasBegun`, once.
    /// - Throws: The error of the server; `CancellationError` when this task was cancelled and the server does not stop within 2 s.
    public func run(_ server: any Service) async throws {
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(services: [server], logger: Logger(label: "listener") { _ in SwiftLogNoOpLogHandler() }))
        state.withLock { $0.group = group }
        let end = FirstResult<Void>()
        Task.detached {
            do {
                try await group.run()
                end.come(.success(()))
            } catch {
                end.come(.failure(error))
            }
        }
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                try await end.wait()
            } onGracefulShutdown: { [self] in
                stopWhenDue { $0.mustStop = true }
            }
        } onCancel: { [self] in
            stopWhenDue { $0.mustStop = true }
            Task.detached {
                try await Task.sleep(for: Self.patience)
                end.come(.failure(CancellationError()))
            }
        }
    }

    private func stopWhenDue(_ change: (inout State) -> Void) {
        let due = state.withLock { state -> ServiceGroup? in
            change(&state)
            guard state.listens, state.mustStop else { return nil }
            defer { state.group = nil }
            return state.group
        }
        if let due { Task.detached { await due.triggerGracefulShutdown() } }
    }
}
