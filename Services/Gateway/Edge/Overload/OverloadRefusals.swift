internal import Catalogue
internal import ContractRuntime
internal import CoreMetrics
internal import HTTPTypes
internal import Logging
internal import NIOCore
internal import Synchronization

/// Refuses requests that would be served too late, with as little work as it takes: 503 with `Retry-After`, in the form that the caller reads.
///
/// Only four parts of the request are read: its method, its address, what it accepts, and the origin of a page. The page must learn when to ask again
/// (rest-v1 §2.1). So errors of the v1 API have their plain form (rest-v1 §2.8), also for requestors that chose the enhanced one.
final class OverloadRefusals: Sendable {
    /// The log tells that requests are refused this often.
    private static let logInterval: TimeAmount = .seconds(10)

    private let routes: RouteTree
    private let faces: Faces
    private let hosts: PublicHosts
    private let metrics: RequestMetrics
    private let transportSecurity: String?
    private let catalogue: (any CatalogueSource)?
    private let logger: Logger
    private let refused = Counter(label: "boxoffice_gateway_overload_refused_total")
    private let templates = Mutex<[ReplyFormat: Template]>([:])
    private let account = Mutex((untold: 0, toldAt: NIODeadline?.none))

    /// - Parameters:
    ///   - transportSecurity: Value of `Strict-Transport-Security`; `nil`: none.
    ///   - catalogue: Tells which pages may read; `nil`: none.
    init(
        routes: RouteTree, settings: GatewaySettings, faces: Faces, metrics: RequestMetrics, transportSecurity: String?,
        catalogue: (any CatalogueSource)? = nil, logger: Logger
    ) {
        self.routes = routes
        self.faces = faces
        hosts = PublicHosts(settings)
        self.metrics = metrics
        self.transportSecurity = transportSecurity
        self.catalogue = catalogue
        self.logger = logger
    }

    /// - Parameter sparesUrgent: Requests that finish what somebody has begun are served.
    /// - Returns: The refusal; `nil`: the request is served.
    func reply(to request: HTTPRequest, sparesUrgent: Bool) -> Http1Conversation.Reply? {
        let (path, suffix) = RequestFacts.split(String((request.path ?? "/").prefix { $0 != "?" && $0 != "#" }))
        let audience = routes.match(path)?.route.audience
        // A preflight costs less than what follows when it fails. Health checks that fail take the gateway away from those whom it serves.
        if request.method == .options || path == "/healthz" || path == "/readyz" || (sparesUrgent && (audience?.isUrgent ?? false)) { return nil }
        count(request.method)
        let trace = request.headerFields.value(.traceparent).flatMap { TraceContext(traceparent: $0) } ?? .random()
        // Where it leaves, the content of HEAD is dropped.
        let known = audience ?? Route.Audience(unknown: path)
        var (fields, body) = faces[known].overloaded(
            OverloadedRequest(
                suffix: suffix, accept: request.headerFields[.accept], language: request.headerFields[.acceptLanguage],
                host: hosts.host(request.authority), trace: trace.traceID))
        complete(&fields, RequestIdentifier.text(trace.traceHigh, trace.traceLow))
        if known.isReadableByPages {
            CrossOrigin(origin: request.headerFields.value(.origin), registeredIn: try? catalogue?.current()).apply(to: &fields)
        }
        return Http1Conversation.Reply(status: .serviceUnavailable, fields: fields, body: body)
    }

    /// The same for what apps ask the v1 API, ready to be sent: it is copied, with another identifier.
    /// - Returns: `nil`: the request is served, or refused by `reply`.
    func refusal(of request: PlainGet, sparesUrgent: Bool) -> ByteBuffer? {
        let (path, suffix) = RequestFacts.split(request.path)
        let audience = routes.match(path)?.route.audience ?? Route.Audience(unknown: path)
        guard case .api = audience, !(sparesUrgent && audience.isUrgent) else { return nil }
        count(.get)
        let format = ReplyFormat(suffix: suffix, parameter: nil, accept: request.accept)
        let template = template(format)
        var bytes = template.bytes
        bytes.setString(RequestIdentifier.random(), at: template.identifier)
        return bytes
    }

    private struct Template {
        let date: String
        let bytes: ByteBuffer
        /// The request's identifier stands here.
        let identifier: Int
    }

    /// Made once a second: it tells the time.
    private func template(_ format: ReplyFormat) -> Template {
        let date = HttpDate.now()
        return templates.withLock { templates in
            if let known = templates[format], known.date == date { return known }
            // The answers for apps of the v1 API have no trace.
            var (fields, body) = faces[.api(.config)].overloaded(
                OverloadedRequest(suffix: format.rawValue, accept: nil, language: nil, host: hosts.standard, trace: ""))
            let identifier = RequestIdentifier.random()
            complete(&fields, identifier)
            // A page's request is none of these.
            CrossOrigin.nobody.apply(to: &fields)
            let bytes = Http1Answer(status: .serviceUnavailable, fields: fields, body: body, connection: .stays).bytes()
            // It stands in the head, as each field.
            let place = bytes.readableBytesView.firstRange(of: Array(identifier.utf8))?.lowerBound ?? bytes.readerIndex
            let template = Template(date: date, bytes: bytes, identifier: place)
            templates[format] = template
            return template
        }
    }

    private func complete(_ fields: inout HTTPFields, _ identifier: String) {
        fields[.retryAfter] = "1"
        fields[.adobeRequestID] = identifier
        fields[.xContentTypeOptions] = "nosniff"
        fields[.referrerPolicy] = "no-referrer"
        if let transportSecurity { fields[.strictTransportSecurity] = transportSecurity }
    }

    private func count(_ method: HTTPRequest.Method) {
        refused.increment()
        let method = Route.knownMethods.contains(method) ? method.rawValue : "other"
        metrics.record(method: method, route: "overload", status: 503, spent: 0)
        let now = NIODeadline.now()
        let told: Int? = account.withLock { account in
            account.untold += 1
            if let last = account.toldAt, now - last < Self.logInterval { return nil }
            defer { account = (0, now) }
            return account.untold
        }
        if let told { logger.warning("overload.refused", metadata: ["requests": "\(told)", "since": "the last such line"]) }
    }
}
