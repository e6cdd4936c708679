#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import Hummingbird
internal import NIOCore
internal import ServiceKit
internal import ServiceLifecycle

/// Runs one HTTP server; says in one line why it cannot.
struct HttpListener: Service {
    let application: any ApplicationProtocol
    /// Of the settings, for example `gateway.listen`.
    let key: String
    let endpoint: String

    func run() async throws {
        do {
            try await application.run()
        } catch let error as IOError {
            let reason = error.errnoCode == EADDRINUSE ? "the port is in use; stop its owner or choose another port" : "\(error)"
            throw StartFailure("\(key): cannot listen on \(endpoint): \(reason)")
        }
    }
}
