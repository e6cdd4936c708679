internal import ContractRuntime
internal import CoreMetrics
internal import Faults
internal import HTTPTypes
internal import Logging
internal import NIOCore
internal import Synchronization

/// Refuses requests that would be served too late, with as little work as it takes: 503 with `Retry-After`, in the form that the caller reads.
///
/// Nothing of the request is read but its method, its address and what it accepts. So errors of the v1 API have their plain form (rest-v1 §2.8), also
/// for requestors that chose the enhanced one, and carry no fields for pages of other origins.
final class OverloadRefusals: Sendable {
    /// How often the log tells that requests are refused.
    private static let logInterval: TimeAmount = .seconds(10)

    private let routes: RouteTree
    private let settings: GatewaySettings
    private let metrics: RequestMetrics
    private let transportSecurity: String?
    private let logger: Logger
    private let refused = Counter(label: "boxoffice_gateway_overload_refused_total")
    private let account = Mutex((untold: 0, toldAt: NIODeadline?.none))

    private let json: ByteBuffer
    private let xml: ByteBuffer
    private let oauth: ByteBuffer
    private let page: (fields: HTTPFields, body: ByteBuffer)

    /// - Parameter transportSecurity: Value of `Strict-Transport-Security`; `nil`: none.
    init(
        routes: RouteTree, settings: GatewaySettings, pages: Pages, metrics: RequestMetrics, transportSecurity: String?, logger: Logger
    ) {
        self.routes = routes
        self.settings = settings
        self.metrics = metrics
        self.transportSecurity = transportSecurity
        self.logger = logger
        let document = ErrorDocument.plain(status: 503, message: Self.message, details: nil)
        (json, xml) = (document.body(.json), document.body(.xml))
        oauth = Refusals.oauthDocument("temporarily_unavailable").body(.json)
        page = pages.notice(.unavailable)
    }

    /// - Parameter sparesUrgent: Requests that finish what somebody has begun are served.
    /// - Returns: The refusal; `nil`: the request is served.
    func reply(to request: HTTPRequest, sparesUrgent: Bool) -> Http1Conversation.Reply? {
        let (path, suffix) = RequestFacts.split(String((request.path ?? "/").prefix { $0 != "?" && $0 != "#" }))
        let audience = routes.match(path)?.route.audience
        // A preflight costs less than what follows when it fails. Health checks that fail take the gateway away from those whom it serves.
        if request.method == .options || path == "/healthz" || (sparesUrgent && (audience?.isUrgent ?? false)) { return nil }
        count(request)
        var (fields, body) = content(audience ?? Self.audience(of: path), suffix, request.headerFields)
        if request.method == .head { body = ByteBuffer() }
        fields[.retryAfter] = "1"
        fields[.adobeRequestID] = RequestIdentifier.random()
        fields[.xContentTypeOptions] = "nosniff"
        fields[.referrerPolicy] = "no-referrer"
        if let transportSecurity { fields[.strictTransportSecurity] = transportSecurity }
        return Http1Conversation.Reply(status: .serviceUnavailable, fields: fields, body: body)
    }

    private static let message = "The service is temporarily unavailable."
    private static let jsonFields: HTTPFields = [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"]
    private static let xmlFields: HTTPFields = [.contentType: "application/xml; charset=utf-8", .cacheControl: "no-store"]
    private static let oauthFields: HTTPFields = [
        .contentType: "application/json; charset=utf-8", .cacheControl: "no-store", .pragma: "no-cache",
    ]

    private func content(_ audience: Route.Audience, _ suffix: String?, _ headers: HTTPFields) -> (HTTPFields, ByteBuffer) {
        switch audience {
        case .api:
            switch ReplyFormat(suffix: suffix, parameter: nil, accept: headers[.accept]) {
            case .json: (Self.jsonFields, json)
            case .xml: (Self.xmlFields, xml)
            }
        case .clientRegistration: (Self.oauthFields, oauth)
        case .administration: (Self.jsonFields, AdministrationError(Fault(.overloaded, Self.message)).document(trace: Self.trace()).body(.json))
        case .autoSignIn: (Self.jsonFields, autoSignInDocument().body(.json))
        case .notification: ([.cacheControl: "no-store"], ByteBuffer())
        case .browser: page
        }
    }

    private func autoSignInDocument() -> Document {
        let row = AutoSignInErrors.row(for: .overloaded)
        return ErrorDocument.enhanced(
            action: row.action, status: 503, code: row.code, message: Self.message, details: nil, help: settings.help(row.code), trace: Self.trace())
    }

    private static func trace() -> String { TraceContext.random().traceID }

    /// Who calls an address that the gateway does not have.
    private static func audience(of path: String) -> Route.Audience {
        if path.hasPrefix("/admin/") { return .administration }
        if path.hasPrefix("/auto-signin/") || path.hasPrefix("/apple/") { return .autoSignIn }
        return ["/api/", "/reggie/", "/o/", "/adobe-services/", "/reset-tempass/"].contains { path.hasPrefix($0) } ? .api(.config) : .browser
    }

    private func count(_ request: HTTPRequest) {
        refused.increment()
        let method = Route.knownMethods.contains(request.method) ? request.method.rawValue : "other"
        metrics.record(method: method, route: "overload", status: 503, spent: .zero)
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

extension Route.Audience {
    /// Requests without which somebody cannot finish what has begun: sign-ins and pages, administrators, Apple's notifications. Apps ask again by themselves.
    var isUrgent: Bool {
        switch self {
        case .browser, .administration, .notification, .api(.authenticate), .api(.logout): true
        case .api, .clientRegistration, .autoSignIn: false
        }
    }
}
