internal import ContractRuntime
internal import Hummingbird

/// What is known of a request before its route.
struct RequestFacts: Sendable {
    /// Sent back as `Adobe-Request-Id`.
    var requestID = RequestIdentifier.random()
    var trace = TraceContext.random()
    /// True when the request came over HTTPS.
    var isSecure = false
    var clientAddress = ClientAddress(peer: nil, forwarded: [], trusted: [])
    /// `json` or `xml`, when the path ended so.
    var suffix: String?
    /// Path without that suffix.
    var path = "/"

    /// Before anything is known; making one draws random numbers.
    static let none = RequestFacts()

    private init() {}

    init(_ request: Request, peer: String?, trusted: [AddressRange]) {
        if let parent = request.headers[.traceparent] {
            let state = request.headers[.tracestate] ?? ""
            // 512 characters is what everyone passes on (W3C trace context §3.3.1.5).
            trace = TraceContext(traceparent: parent, state: state.utf8.count <= 512 ? state : "")?.child() ?? .random()
        }
        clientAddress = ClientAddress(peer: peer, forwarded: request.headers[values: .xForwardedFor], trusted: trusted)
        path = request.uri.path
        guard path.hasPrefix("/api/") || path.hasPrefix("/reggie/") else { return }
        for format in [ReplyFormat.json, .xml] where path.hasSuffix("." + format.rawValue) {
            suffix = format.rawValue
            path.removeLast(format.rawValue.utf8.count + 1)
        }
    }

    /// The request as the router shall see it: without the format suffix, and with a method that it knows, so that any other
    /// method meets the 405 of the route instead of a 404.
    func routed(_ request: Request) -> Request {
        var head = request.head
        if suffix != nil { head.path = path + (request.uri.query.map { "?" + $0 } ?? "") }
        if !Route.knownMethods.contains(head.method) { head.method = .connect }
        return Request(head: head, body: request.body)
    }
}
