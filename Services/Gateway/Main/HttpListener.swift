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

/// Runs one HTTP server; says in one line why it cannot.
struct HttpListener: Service {
    let application: any ApplicationProtocol
    /// The application tells it that it runs.
    let shield: ListenerShield
    /// Of the settings, for example `gateway.listen`.
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
