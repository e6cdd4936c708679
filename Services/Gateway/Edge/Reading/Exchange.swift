package import ContractRuntime
internal import Cryptography
package import Faults
package import Hummingbird
package import Logging
package import NIOCore
internal import Synchronization
internal import TextEncodings

/// One request as a handler sees it; a class, because it is handed from one step to the next many times.
package final class Exchange: Sendable {
    package let method: HTTPRequest.Method
    package let audience: Route.Audience
    package let facts: RequestFacts
    package let headers: HTTPFields
    package let format: ReplyFormat
    /// Path and query exactly as they were received.
    package let target: String
    /// The query exactly as it was received.
    package let query: String
    /// Host and port that the request was sent to, as it says.
    package let authority: String
    /// Deadline and trace for the calls that the handler makes.
    package let call: CallContext
    package let credentials = CredentialTrace()
    /// The requestors that the call was served for; `nil`: nobody has said.
    private let served = Mutex<[String]?>(nil)
    private let plainLogger: Logger
    /// Body of routes that read it raw.
    package let body: ByteBuffer
    private let captures: [(name: String, text: Substring)]
    private let timeout: Duration
    private let parameters: Result<ParameterSet, Fault>

    init(_ request: Request, context: GatewayContext, match: RouteTree.Match, body: ByteBuffer, timeout: Duration) {
        method = request.method
        let route = match.route
        audience = route.audience
        facts = context.facts
        headers = request.headers
        plainLogger = context.logger
        captures = match.captures
        self.body = body
        self.timeout = timeout
        call = CallContext(deadline: .now.advanced(by: timeout), trace: context.facts.trace)
        target = request.head.path ?? ""
        query = request.uri.query ?? ""
        authority = request.head.authority ?? ""
        let query = Array(query.utf8)
        let hasForm = body.readableBytes > 0 && route.body != .raw && route.body != .document && Self.isForm(request.headers)
        let form = hasForm ? Array(body.readableBytesView) : []
        parameters = Result { () throws(Fault) in try ParameterSet(query: query, form: form) }
        let accept = route.audience.isAlwaysJSON ? "application/json" : request.headers.value(.accept) ?? ""
        format = ReplyFormat(suffix: facts.suffix, parameter: try? parameters.get().value("format"), accept: accept)
    }

    static func isForm(_ headers: HTTPFields) -> Bool {
        mediaType(headers) == "application/x-www-form-urlencoded"
    }

    /// The content type without parameters, lower case; empty when there is none.
    package static func mediaType(_ headers: HTTPFields) -> String {
        let plain = headers.value(.contentType) ?? ""
        // As most clients write it.
        if plain.utf8.allSatisfy({ (0x61...0x7a).contains($0) || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "-") }) { return plain }
        return plain.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
    }

    /// Names the request and its trace on each line.
    package var logger: Logger {
        var logger = plainLogger
        logger[metadataKey: "trace_id"] = .string(facts.trace.traceID)
        logger[metadataKey: "request"] = .string(facts.traceUUID)
        return logger
    }

    /// True when lines of a level are written: asked where `logger` would be made in vain for each request.
    func logs(_ level: Logger.Level) -> Bool { plainLogger.logLevel <= level }

    /// The part of `User-Agent` that is kept and searched, in octets.
    static let longestUserAgent = 1024

    /// At most its first 1024 octets: no client that exists sends more, and nothing behind them is worth a search or a row.
    package var userAgent: String {
        let sent = headers.value(.userAgent) ?? ""
        guard sent.utf8.count > Self.longestUserAgent else { return sent }
        return String(decoding: sent.utf8.prefix(Self.longestUserAgent), as: UTF8.self)
    }

    /// A context for a call that changes state: the same request is one change.
    package var changingCall: CallContext {
        var context = call
        context.idempotencyKey = facts.requestID
        return context
    }

    /// A context for one of several calls that a request makes one after another: each has the time of a request.
    /// - Parameter change: Tells it from the others where each is a change of its own; `nil`: it changes nothing.
    package func partialCall(_ change: String? = nil) -> CallContext {
        var context = call
        context.idempotencyKey = change.map { "\(facts.requestID)-\($0)" }
        context.deadline = .now.advanced(by: timeout)
        return context
    }
}

extension Exchange {
    /// Notes for which requestors the call is made, as it proves when it succeeds: pages of their domains may read the answer. Noted where the text
    /// is read that the owning service checks, so that no other parameter decides.
    package func serves(_ requestors: [String]) {
        guard headers[.origin] != nil else { return }
        served.withLock { $0 = requestors }
    }

    var servedRequestors: [String]? { served.withLock { $0 } }
}

extension Exchange {
    /// - Throws: `invalid_request` when it was sent with two different values, or a parameter cannot be decoded.
    package func value(_ name: String) throws(Fault) -> String? {
        try parameters.get().value(name)
    }

    /// - Throws: `invalid_request` when it is absent or empty, was sent with two different values, or a parameter cannot be decoded.
    package func required(_ name: String) throws(Fault) -> String {
        try parameters.get().required(name)
    }

    /// Each value that was sent under the name.
    package func all(_ name: String) throws(Fault) -> [String] {
        try parameters.get().all(name)
    }

    /// Each value that the form in the body has under the name: for what must not come from an address.
    /// - Throws: `invalid_request` when a parameter cannot be decoded.
    package func sentInBody(_ name: String) throws(Fault) -> [String] {
        guard Self.isForm(headers) else { return [] }
        return try ParameterSet(query: [], form: Array(body.readableBytesView)).all(name)
    }

    /// Every parameter that was sent, in order.
    /// - Throws: `invalid_request` when one cannot be decoded.
    package func allParameters() throws(Fault) -> [(name: String, value: String)] { try parameters.get().pairs }

    /// False when a parameter cannot be decoded.
    package var hasReadableParameters: Bool { (try? parameters.get()) != nil }

    /// True when no parameter of that name was sent.
    package func lacks(_ name: String) -> Bool { (try? parameters.get().all(name).isEmpty) ?? true }

    /// A captured part of the path, decoded.
    /// - Throws: `invalid_request` when it is no percent-encoded UTF-8 text.
    package func captured(_ name: String) throws(Fault) -> String {
        guard let text = PercentEncoding.decode((capture(name) ?? "").utf8, plusIsSpace: false) else {
            throw Fault(.invalidRequest, "The path is not encoded as UTF-8 text")
        }
        return text
    }

    private func capture(_ name: String) -> Substring? { captures.first { $0.name == name }?.text }

    /// The part of the path that names the channel: `{requestor}`, in v2's words `{serviceProvider}`.
    /// - Throws: `invalid_request` when it is no percent-encoded UTF-8 text.
    package func capturedRequestor() throws(Fault) -> String { try captured(capture("requestor") == nil ? "serviceProvider" : "requestor") }

    /// The requestor that the request names anywhere, for choices that must not fail: error format and CORS.
    package var namedRequestor: String? {
        if capture("requestor") != nil || capture("serviceProvider") != nil { return try? capturedRequestor() }
        return (try? value("requestor")) ?? (try? value("requestor_id"))
    }
}

extension Exchange {
    /// The cookies of the request.
    package var cookies: [(name: String, value: String)] {
        headers[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            return (String(parts[0].drop { $0 == " " }), String(parts[1]))
        }
    }
}

/// The token in a form of a web session, so that no page of another site can make one. It is a digest of the session's secret, which only that page
/// and the cookie have.
package struct FormToken {
    package let text: String

    /// - Parameter purpose: Forms of one kind of pages are none of another's.
    package init(secret: String, purpose: String = "devices") {
        text = Base64.url.encode(SHA256.hash(Array("boxoffice-\(purpose)-form\n\(secret)".utf8)))
    }

    package func isEqual(to sent: String) -> Bool { ConstantTime.equal(text, sent) }
}

/// Checks that a form was sent from a page of the gateway itself.
package enum FormOrigin {
    /// Browsers say it in `Sec-Fetch-Site`, older ones in `Origin`; a program without either is no browser that could be misled.
    package static func isOwn(_ exchange: Exchange) -> Bool {
        if let site = exchange.headers[.secFetchSite] { return site == "same-origin" }
        guard let origin = exchange.headers[.origin] else { return true }
        return exchange.facts.host.serves(origin, authority: exchange.authority)
    }
}
