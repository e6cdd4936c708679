public import ContractRuntime
internal import CoreMetrics
internal import HTTPTypes
internal import Hummingbird
package import Logging
internal import NIOCore
internal import Synchronization

/// The known facts about a request before its route; a class, because it is handed from one step to the next many times.
package final class RequestFacts: Sendable {
    /// Names this request alone, also where a caller sends one trace with several requests: a change of state that comes twice is known by it.
    package let requestID: String
    /// The trace's id as a UUID is written: sent back as `Adobe-Request-Id`, and in the log.
    let traceUUID: String
    package let trace: TraceContext
    /// Id of the caller's span; `nil` when the trace begins here.
    let parentSpan: UInt64?
    /// The settings of the name that it was sent to.
    package let host: ServedHost
    /// True when the request came over HTTPS.
    package let isSecure: Bool
    /// True when it came over plain HTTP, neither from this host nor through a trusted proxy, and somebody minds.
    let isReadableOnTheWay: Bool
    package let clientAddress: ClientAddress
    /// Source port of the client's connection, 1 to 65535; 0: nobody knows it (bridge §5.1).
    package let clientPort: UInt16
    /// `json` or `xml`, for reports also `csv` or `html`, when the path ended so.
    package let suffix: String?
    /// Path without that suffix.
    package let path: String
    /// Path as it was sent.
    let sentPath: String

    /// Before anything is known.
    static let none = RequestFacts(trace: .random(), requestID: RequestIdentifier.random())

    private init(trace: TraceContext, requestID: String) {
        self.trace = trace
        self.requestID = requestID
        traceUUID = requestID
        parentSpan = nil
        host = .none
        isSecure = false
        isReadableOnTheWay = false
        clientAddress = ClientAddress(peer: nil, forwarded: [], trusted: [])
        clientPort = 0
        suffix = nil
        path = "/"
        sentPath = "/"
    }

    /// - Parameters:
    ///   - peer: Address of the connection's other end.
    ///   - port: Its port.
    ///   - trusted: The peers whose `X-Forwarded-For` counts.
    ///   - portHeader: The header in which these say the client's port.
    ///   - isSecure: It came over HTTPS.
    ///   - allowsPlainSignatures: Nobody minds who reads a signature on the way.
    ///   - host: The settings of the name that it was sent to.
    init(
        _ request: Request, peer: String?, port: Int? = nil, trusted: [AddressRange], portHeader: HTTPField.Name? = nil, isSecure: Bool,
        allowsPlainSignatures: Bool = false, host: ServedHost
    ) {
        self.host = host
        let sent = request.headers.value(.traceparent).flatMap { parent -> TraceContext? in
            let state = request.headers.value(.tracestate) ?? ""
            // 512 characters is what everyone passes on (W3C trace context §3.3.1.5).
            return TraceContext(traceparent: parent, state: state.utf8.count <= 512 ? state : "")
        }
        trace = sent.map { TraceSampling.entering($0).child() } ?? .random()
        parentSpan = sent?.span
        traceUUID = RequestIdentifier.text(trace.traceHigh, trace.traceLow)
        // A trace of its own is as new as an identifier: its numbers serve for both.
        requestID = sent == nil ? traceUUID : RequestIdentifier.random()
        self.isSecure = isSecure
        let address = peer.flatMap(IPAddress.init)
        let isTrusted = address.map { address in trusted.contains { $0.contains(address) } } ?? false
        let isNear = address.map { address in isTrusted || Self.near.contains { $0.contains(address) } }
        isReadableOnTheWay = !isSecure && !allowsPlainSignatures && isNear == false
        clientAddress = ClientAddress(peer: peer, forwarded: request.headers[values: .xForwardedFor], trusted: trusted)
        clientPort = isTrusted ? portHeader.map { ClientPort.named(request.headers[values: $0]) } ?? 0 : ClientPort.number(port)
        sentPath = String((request.head.path ?? "/").prefix { $0 != "?" && $0 != "#" })
        (path, suffix) = Self.split(sentPath)
    }

    /// This host.
    private static let near = ["127.0.0.0/8", "::1/128"].compactMap(AddressRange.init)

    /// Takes `.json` or `.xml`, and so on, off a path that may end so.
    static func split(_ path: String) -> (path: String, suffix: String?) {
        // XML comes from there whatever the suffix: a client that exists reads it so (clients §3).
        if path.hasPrefix("/adobe-services/"), let plain = [".json", ".xml"].first(where: { path.hasSuffix($0) }) {
            return (String(path.dropLast(plain.utf8.count)), nil)
        }
        if path.hasPrefix("/esm/") { return split(path, reports) }
        guard path.hasPrefix("/api/") || path.hasPrefix("/reggie/") else { return (path, nil) }
        return split(path, formats)
    }

    private static let formats = ["json", "xml"]
    private static let reports = ["json", "xml", "csv", "html"]

    private static func split(_ path: String, _ suffixes: [String]) -> (path: String, suffix: String?) {
        for suffix in suffixes where path.hasSuffix("." + suffix) { return (String(path.dropLast(suffix.utf8.count + 1)), suffix) }
        return (path, nil)
    }
}

/// Names a request for support, and its change of state for the services (an idempotency key).
enum RequestIdentifier {
    /// A version 4 UUID in lower case (RFC 9562 §5.4), without opening the system's random device for each.
    static func random() -> String {
        text(.random(in: .min ... .max) & ~0xf000 | 0x4000, .random(in: .min ... .max) & ~(0b11 << 62) | 0b10 << 62)
    }

    /// 128 bits as a UUID is written.
    static func text(_ high: UInt64, _ low: UInt64) -> String {
        return String(unsafeUninitializedCapacity: 36) { text in
            var place = 0
            for digit in 0..<32 {
                if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
                    text[place] = UInt8(ascii: "-")
                    place += 1
                }
                let half = digit < 16 ? high : low
                let value = UInt8(truncatingIfNeeded: half >> UInt64(60 - digit % 16 * 4)) & 0xf
                text[place] = value < 10 ? 0x30 + value : 0x57 + value
                place += 1
            }
            return place
        }
    }
}

/// The data that the router carries beside a request.
struct GatewayContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Address of the connection's other end; `nil` without a network.
    let peer: String?
    let peerPort: Int?
    /// The whole body, where it came with the head; `nil`: it is read from the request.
    var body: ByteBuffer?
    /// Set by `EdgeResponder` before a route sees the request.
    var facts = RequestFacts.none
    private let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
        let address = channel.remoteAddress
        (peer, peerPort) = (address?.ipAddress, address?.port)
    }

    /// Tells a client that its body is wanted, where it waits for that and has sent nothing of it. The head is accepted (RFC 9110 §10.1.1).
    func sayContinue(to request: Request) {
        guard request.headers.value(.expect) != nil else { return }
        let pipeline = channel.pipeline
        let say = { @Sendable in (try? pipeline.syncOperations.handler(type: RequestGuard.self))?.sayContinue() ?? () }
        if channel.eventLoop.inEventLoop { say() } else { channel.eventLoop.execute(say) }
    }
}

/// Takes one line per request.
public struct RequestLog: Sendable {
    /// A request that was answered.
    public struct Line: Sendable {
        public let trace: TraceContext
        /// As sent back in `Adobe-Request-Id`.
        public let requestID: String
        public let method: String
        /// Template of the route.
        public let route: String
        public let status: Int
        public let microseconds: Int64
    }

    package let write: @Sendable (Line) -> Void

    public init(_ write: @escaping @Sendable (Line) -> Void) { self.write = write }

    /// The lines are events of the logger.
    package init(_ logger: Logger) {
        write = { line in
            logger.info(
                "request",
                metadata: [
                    "trace_id": .string(line.trace.traceID), "request": .string(line.requestID), "method": .string(line.method),
                    "route": .string(line.route), "status": .string(String(line.status)), "duration_us": .string(String(line.microseconds)),
                ])
        }
    }
}

/// Counts and times requests by route template, method and status; all labels are bounded.
final class RequestMetrics: Sendable {
    private struct Series: Hashable {
        let method: String
        let route: String
        let status: Int
    }

    private let known = Mutex<[Series: (counter: Counter, timer: CoreMetrics.Timer)]>([:])

    /// - Parameter spent: In nanoseconds.
    func record(method: String, route: String, status: Int, spent: Int64) {
        let series = Series(method: method, route: route, status: status)
        let (counter, timer) = known.withLock { known in
            if let instruments = known[series] { return instruments }
            let instruments = Self.instruments(series)
            known[series] = instruments
            return instruments
        }
        counter.increment()
        timer.recordNanoseconds(spent)
    }

    private static func instruments(_ series: Series) -> (counter: Counter, timer: CoreMetrics.Timer) {
        let dimensions = [("method", series.method), ("route", series.route), ("status", String(series.status))]
        return (
            Counter(label: "boxoffice_gateway_requests_total", dimensions: dimensions),
            CoreMetrics.Timer(label: "boxoffice_gateway_request_duration_seconds", dimensions: dimensions)
        )
    }
}
