internal import BridgeClient
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import Synchronization

/// Stops requests that this cluster has sent itself: an upstream that leads back here, by whatever way (bridge §14.3).
final class LoopGuard: Sendable {
    /// One alarm for as long: anybody can send the header.
    private static let quiet: TimeAmount = .minutes(1)

    private let via: BridgeVia
    private let alarmedAt = Mutex<NIODeadline?>(nil)

    /// - Parameter origin: Of the addresses that `authentication` gives to MVPDs and upstreams: by it both ends know the cluster.
    init(origin: String) { via = BridgeVia(origin: origin) }

    /// - Returns: `nil` for a request that has not been here before.
    func refusal(of request: Request, _ logger: Logger) -> Response? {
        let values = request.headers[values: .via]
        guard !values.isEmpty, via.stands(in: values) else { return nil }
        let now = NIODeadline.now()
        let mustTell = alarmedAt.withLock { last in
            guard last.map({ now >= $0 + Self.quiet }) ?? true else { return false }
            last = now
            return true
        }
        if mustTell { logger.error("bridge.loop", metadata: ["details": "a request came back that this cluster sent; an upstream leads here"]) }
        return Response(
            Document("error", [.init("code", .text("loop_detected")), .init("message", .text("The request has been here before."))]), format: .json,
            status: HTTPResponse.Status(code: 508, reasonPhrase: "Loop Detected"))
    }
}
