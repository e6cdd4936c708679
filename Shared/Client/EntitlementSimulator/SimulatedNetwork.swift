internal import Octets
public import EntitlementClient
internal import Foundation
internal import Synchronization

/// A device's network: carries requests by another transport, and fails as tests set it.
public final class SimulatedNetwork: HTTPTransport {
    /// Something that goes wrong.
    public struct Fault: Sendable, Hashable {
        /// How.
        public enum Kind: Sendable, Hashable {
            /// There is no connection.
            case unreachable
            /// The server's certificate cannot be trusted.
            case insecure
            /// A page of the hotel's network instead of an answer: status 200, HTML.
            case captivePortal
            /// An answer of that HTTP status, with an empty JSON object.
            /// - Parameter retryAfter: Seconds, of the header `Retry-After`.
            case status(Int, retryAfter: Int? = nil)
            /// The answer comes later by this time.
            case slow(Duration)
        }

        public var kind: Kind
        /// Only requests with a path that begins so.
        public var path: String
        /// How many requests; `nil`: until the faults are removed.
        public var times: Int?

        /// - Parameters:
        ///   - kind: The fault.
        ///   - path: Only requests with a path that begins so; default: all.
        ///   - times: How many requests; `nil`: until the faults are removed.
        public init(_ kind: Kind, path: String = "/", times: Int? = nil) { (self.kind, self.path, self.times) = (kind, path, times) }
    }

    private struct State {
        var faults: [Fault] = []
        var requests = 0
    }

    private let transport: any HTTPTransport
    private let clock: any ClientClock
    private let state = Mutex(State())

    /// - Parameters:
    ///   - transport: Carries what gets through.
    ///   - clock: Measures slowness.
    public init(_ transport: any HTTPTransport, clock: any ClientClock = SystemClientClock()) { (self.transport, self.clock) = (transport, clock) }

    /// How many requests the device has sent.
    public var requests: Int { state.withLock { $0.requests } }

    /// Adds a fault behind those that are there; the first that fits a request counts.
    public func add(_ fault: Fault) { state.withLock { $0.faults.append(fault) } }
    /// Removes all faults.
    public func removeFaults() { state.withLock { $0.faults = [] } }

    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        switch fault(of: request.url.path) {
        case nil: return try await transport.send(request)
        case .unreachable: throw TransportFailure(.unreachable, "simulated: no connection")
        case .insecure: throw TransportFailure(.insecure, "simulated: a certificate that cannot be trusted")
        case .captivePortal:
            let page = "<!doctype html><title>Welcome</title><p>Sign in to the hotel's network."
            return HTTPResponse(status: 200, headers: [HTTPHeader("Content-Type", "text/html")], body: Data(page.utf8))
        case .status(let status, let retryAfter):
            let wait = retryAfter.map { [HTTPHeader("Retry-After", "\($0)")] } ?? []
            return HTTPResponse(status: status, headers: [HTTPHeader("Content-Type", "application/json")] + wait, body: Data("{}".utf8))
        case .slow(let pause):
            try await clock.sleep(for: pause)
            return try await transport.send(request)
        }
    }

    private func fault(of path: String) -> Fault.Kind? {
        state.withLock { state in
            state.requests += 1
            guard let index = state.faults.firstIndex(where: { path.hasPrefix($0.path) }) else { return nil }
            let fault = state.faults[index]
            if let times = fault.times {
                state.faults[index].times = times - 1
                if times <= 1 { state.faults.remove(at: index) }
            }
            return fault.kind
        }
    }
}
