internal import ContractRuntime
internal import Hummingbird

/// What is known of a request before its route; a class, because it is handed from one step to the next many times.
final class RequestFacts: Sendable {
    /// Names this request alone, also where a caller sends one trace with several requests: a change of state that comes twice is known by it.
    let requestID: String
    /// The trace's id as a UUID is written: sent back as `Adobe-Request-Id`, and in the log.
    let traceUUID: String
    let trace: TraceContext
    /// Id of the caller's span; `nil` when the trace begins here.
    let parentSpan: UInt64?
    /// What the settings say of the name that it was sent to.
    let host: ServedHost
    /// True when the request came over HTTPS.
    let isSecure: Bool
    /// True when it came over plain HTTP, neither from this host nor through a trusted proxy, and somebody minds.
    let isReadableOnTheWay: Bool
    let clientAddress: ClientAddress
    /// `json` or `xml`, for reports also `csv` or `html`, when the path ended so.
    let suffix: String?
    /// Path without that suffix.
    let path: String
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
        suffix = nil
        path = "/"
        sentPath = "/"
    }

    /// - Parameters:
    ///   - peer: Address of the connection's other end.
    ///   - trusted: The peers whose `X-Forwarded-For` counts.
    ///   - isSecure: It came over HTTPS.
    ///   - allowsPlainSignatures: Nobody minds who reads a signature on the way.
    ///   - host: Of the name that it was sent to.
    init(_ request: Request, peer: String?, trusted: [AddressRange], isSecure: Bool, allowsPlainSignatures: Bool = false, host: ServedHost) {
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
        let isNear = peer.flatMap(IPAddress.init).map { address in
            Self.near.contains { $0.contains(address) } || trusted.contains { $0.contains(address) }
        }
        isReadableOnTheWay = !isSecure && !allowsPlainSignatures && isNear == false
        clientAddress = ClientAddress(peer: peer, forwarded: request.headers[values: .xForwardedFor], trusted: trusted)
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
        if path.hasPrefix("/esm/") { return UsageFormat.split(path) }
        guard path.hasPrefix("/api/") || path.hasPrefix("/reggie/") else { return (path, nil) }
        for format in [ReplyFormat.json, .xml] where path.hasSuffix("." + format.rawValue) {
            return (String(path.dropLast(format.rawValue.utf8.count + 1)), format.rawValue)
        }
        return (path, nil)
    }
}
