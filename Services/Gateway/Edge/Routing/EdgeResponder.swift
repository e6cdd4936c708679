internal import BridgeClient
internal import Faults
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import Spans
internal import Synchronization

/// The outermost layer: identifies each request, routes it, and accounts for the reply.
final class EdgeResponder: HTTPResponder {
    private let routes: RouteTree
    /// The names of the listener for administration; `nil` at the others, which answer to any name.
    private let names: AdministrationNames?
    private let hosts: PublicHosts
    private let responder: RouteResponder
    private let refusals: Refusals
    private let metrics: RequestMetrics
    private let trustedProxies: [AddressRange]
    private let clientPortHeader: HTTPField.Name?
    private let signedPlainHTTP: GatewaySettings.SignedPlainHTTP
    private let throttle: Throttle
    private let loops: LoopGuard
    /// True on the listener of HTTPS.
    private let isSecure: Bool
    /// Value of `Strict-Transport-Security` (RFC 6797); `nil` on plain HTTP.
    private let transportSecurity: String?
    private let unserved = UnservedCalls()
    private let logger: Logger
    private let log: RequestLog

    init(
        routes: RouteTree, names: AdministrationNames?, hosts: PublicHosts, responder: RouteResponder, refusals: Refusals, metrics: RequestMetrics,
        trustedProxies: [AddressRange], clientPortHeader: String?, signedPlainHTTP: GatewaySettings.SignedPlainHTTP, throttle: Throttle,
        loops: LoopGuard,
        isSecure: Bool, transportSecurity: String?, logger: Logger, log: RequestLog
    ) {
        self.routes = routes
        self.names = names
        self.hosts = hosts
        self.responder = responder
        self.refusals = refusals
        self.metrics = metrics
        self.trustedProxies = trustedProxies
        self.clientPortHeader = clientPortHeader.flatMap { HTTPField.Name($0) }
        self.signedPlainHTTP = signedPlainHTTP
        self.throttle = throttle
        self.loops = loops
        self.isSecure = isSecure
        self.transportSecurity = transportSecurity
        self.logger = logger
        self.log = log
    }

    func respond(to request: Request, context: GatewayContext) async -> Response {
        let start = NIODeadline.now()
        var context = context
        context.facts = RequestFacts(
            request, peer: context.peer, port: context.peerPort, trusted: trustedProxies, portHeader: clientPortHeader, isSecure: isSecure,
            allowsPlainSignatures: signedPlainHTTP == .all,
            host: isPublic ? hosts.host(request.head.authority) : hosts.standard)
        context.logger = logger
        let span = span(of: request, context.facts)
        var (response, route) =
            if let span { await Span.$current.withValue(span) { [context] in await answer(request, context) } } else {
                await answer(request, context)
            }
        // Addresses of requests hold codes, and on a web view's logout the bearer (rest-v1 §3.20): no referrer. No handler sets one of these.
        var fields = [
            HTTPField(name: .adobeRequestID, value: context.facts.traceUUID), HTTPField(name: .xContentTypeOptions, value: "nosniff"),
            HTTPField(name: .referrerPolicy, value: "no-referrer"),
        ]
        if let transportSecurity { fields.append(HTTPField(name: .strictTransportSecurity, value: transportSecurity)) }
        let end = response.headers.endIndex
        response.headers.replaceSubrange(end..<end, with: fields)
        account(request, response, route: route, facts: context.facts, spent: (NIODeadline.now() - start).nanoseconds)
        span?.end(response, of: Self.method(request), route: route)
        return response
    }

    /// The probe that asks every second whether the gateway is there has none.
    private func span(of request: Request, _ facts: RequestFacts) -> Span? {
        guard Tracing.isOn, facts.path != "/healthz", facts.path != "/readyz" else { return nil }
        return .serving(
            facts.trace, parent: facts.parentSpan, Self.method(request),
            [
                SpanAttribute("http.request.method", .text(Self.method(request))), SpanAttribute("url.scheme", isSecure ? "https" : "http"),
                SpanAttribute("boxoffice.gateway.door", isPublic ? "everybody" : "administration"),
            ])
    }

    /// As the semantic conventions name what they do not know.
    private static func method(_ request: Request) -> String {
        Route.knownMethods.contains(request.method) ? request.method.rawValue : "_OTHER"
    }

    /// The same, ready to be written.
    func reply(to request: Request, context: GatewayContext) async -> Http1Conversation.Reply {
        do {
            let response = await respond(to: request, context: context)
            return Http1Conversation.Reply(status: response.status, fields: response.headers, body: try await CollectedBody.bytes(of: response))
        } catch {
            logger.error("request.failed", metadata: ["error": "\(error)"])
            return Http1Conversation.Reply(status: .internalServerError, fields: [:], body: ByteBuffer())
        }
    }

    /// - Returns: The answer and the route's label.
    private func answer(_ request: Request, _ context: GatewayContext) async -> (Response, route: String) {
        // A name that two programs could read in two ways (RFC 9110 §7.2).
        if let authority = request.head.authority, !Authority.isPlain(authority) {
            return (Response(status: .badRequest, headers: [.cacheControl: "no-store", .connection: "close"]), "other")
        }
        let verdict = PathRule.verdict(on: context.facts.sentPath)
        let match = verdict == .refused ? nil : routes.match(context.facts.path)
        if let (turnedAway, label) = turnedAway(request, context, verdict, match) {
            var response = turnedAway
            responder.admitPages(
                request, match?.route.audience ?? (isPublic ? Route.Audience(unknown: context.facts.path) : nil), to: &response)
            return (response, label)
        }
        guard let match else { return (refusals.notFound(request, facts: context.facts), "other") }
        return (await responder.respond(request, context, match), match.route.path)
    }

    /// The answer that needs no route.
    /// - Returns: `nil`: the route answers.
    private func turnedAway(
        _ request: Request, _ context: GatewayContext, _ verdict: PathRule.Verdict, _ match: RouteTree.Match?
    ) -> (Response, route: String)? {
        if let refusal = names?.refusal(of: request, isSecure: isSecure, checksOrigin: Self.checksOrigin(request, match)) {
            return (refusals.stranger(refusal, at: context.facts.path, trace: context.facts.trace.traceID), match?.route.path ?? "other")
        }
        if let refusal = loops.refusal(of: request, logger) { return (refusal, match?.route.path ?? "other") }
        // Before everything else (rest-v1 §2.8).
        if ThrottledPaths.applies(to: request.method, match?.route.path ?? context.facts.path), !throttle.admits(context.facts.clientAddress) {
            return (Response.tooManyRequests(retryAfter: 1), "throttled")
        }
        // It holds for every address (RFC 9110 §9.1): no route knows the method.
        guard Self.servedMethods.contains(request.method) else { return (refusals.notImplemented(request, facts: context.facts), "other") }
        // A preflight asks for nothing, and is answered as at every address.
        if verdict == .refused, request.method == .options {
            let allowed = routes.match(context.facts.path)?.route.allowed ?? "OPTIONS"
            return (Response(status: .noContent, headers: [.allow: allowed]), "other")
        }
        if verdict == .refused, let redirect = redirectDoubled(request, context.facts) { return redirect }
        guard let match else {
            if isPublic, unserved.note(context.facts.sentPath) { return (refusals.unserved(), "other") }
            return (refusals.notFound(request, facts: context.facts), "other")
        }
        // A preflight must not be redirected (Fetch §4.8). It is answered as at the address without the slash, to which the call that follows is led.
        if verdict == .endsInSlash, !match.route.audience.takesSlash, request.method != .options {
            return (Self.redirect(request, to: match), match.route.path)
        }
        return nil
    }

    /// The gateway is nobody's proxy.
    private static let servedMethods = Set(Route.knownMethods.filter { $0 != .connect })

    /// A link of another site may lead to a page of the console, which it cannot read.
    private static func checksOrigin(_ request: Request, _ match: RouteTree.Match?) -> Bool {
        guard let audience = match?.route.audience else { return true }
        if case .console = audience { return request.method != .get && request.method != .head }
        return audience.isFirstParty
    }

    /// Some of the first native SDKs write two slashes before the path of the vendor's calls (clients §1.13).
    /// - Returns: `nil` for any other address.
    private func redirectDoubled(_ request: Request, _ facts: RequestFacts) -> (Response, route: String)? {
        guard isPublic, facts.sentPath.utf8.starts(with: "//adobe-services/".utf8) else { return nil }
        let path = String(facts.sentPath.utf8.dropFirst()) ?? ""
        guard PathRule.verdict(on: path) != .refused, let match = routes.match(RequestFacts.split(path).path) else { return nil }
        return (Self.redirect(request, to: match), match.route.path)
    }

    /// False at the listener for administration.
    private var isPublic: Bool { names == nil }

    /// To the same address without the slash at its end, method and query kept (RFC 9110 §15.4.9).
    private static func redirect(_ request: Request, to match: RouteTree.Match) -> Response {
        let query = request.uri.query.map { "?" + $0 } ?? ""
        return Response(status: .permanentRedirect, headers: [.location: match.path + query, .cacheControl: "no-store"])
    }

    /// - Parameter spent: In nanoseconds.
    private func account(_ request: Request, _ response: Response, route: String, facts: RequestFacts, spent: Int64) {
        let method = Route.knownMethods.contains(request.method) ? request.method.rawValue : "other"
        metrics.record(method: method, route: route, status: response.status.code, spent: spent)
        log.write(
            RequestLog.Line(
                trace: facts.trace, requestID: facts.traceUUID, method: method, route: route, status: response.status.code,
                microseconds: spent / 1000))
    }
}

extension Span {
    fileprivate func end(_ response: Response, of method: String, route: String) {
        set("http.response.status_code", .integer(Int64(response.status.code)))
        // Other words name what was answered before there was a route.
        if route.utf8.first == UInt8(ascii: "/") {
            set("http.route", .text(route))
            rename("\(method) \(route)")
        }
        if response.status.code >= 500 { fail(String(response.status.code)) }
        end()
    }
}

/// Stops requests that this cluster has sent itself: an upstream that leads back here, by whatever way (bridge §14.3).
final class LoopGuard: Sendable {
    /// One alarm for as long: anybody can send the header.
    private static let quiet: TimeAmount = .minutes(1)

    private let via: BridgeVia
    private let alarmedAt = Mutex<NIODeadline?>(nil)

    /// - Parameter origin: The origin of the addresses that `authentication` gives to MVPDs and upstreams: by it both ends know the cluster.
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
