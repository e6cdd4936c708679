#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import ServiceKit
internal import ServiceLifecycle
internal import Synchronization

/// Runs one HTTP server; says in one line why it cannot.
struct HttpListener: Service {
    let application: any ApplicationProtocol
    /// The application tells it that it runs.
    let shield: ListenerShield
    /// The key of the settings, for example `gateway.listen`.
    let key: String
    let endpoint: String
    /// True: when it cannot listen, the log says so and the program goes on without it.
    var isOptional = false
    let logger: Logger

    func run() async throws {
        do {
            try await shield.run(application)
        } catch let error as IOError {
            let reason = error.errnoCode == EADDRINUSE ? "the port is in use; stop its owner or choose another port" : "\(error)"
            guard isOptional else { throw StartFailure("\(key): cannot listen on \(endpoint): \(reason)") }
            logger.warning("gateway.not_listening", metadata: ["setting": "\(key)", "address": "\(endpoint)", "reason": "\(reason)"])
            try? await gracefulShutdown()
        }
    }
}

/// The listeners of a gateway that has to have them all before it is ready.
final class AwaitedListeners: Sendable {
    private let keys = Mutex<Set<String>>([])

    /// - Parameter key: The key of the settings, for example `gateway.listen`.
    func expect(_ key: String) { keys.withLock { _ = $0.insert(key) } }

    func markBegun(_ key: String) { keys.withLock { _ = $0.remove(key) } }

    /// `nil`: all of them listen.
    var lacking: String? {
        let keys = keys.withLock { $0.sorted() }
        return keys.isEmpty ? nil : "\(keys.joined(separator: ", ")) not open yet"
    }
}

/// All of the gateway's HTTP servers: they stop side by side, so that the time to drain is that of one.
struct HttpListeners: Service {
    let listeners: [HttpListener]

    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for listener in listeners { group.addTask { try await listener.run() } }
        }
    }
}
