internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore

extension Pages {
    /// - Parameter content: The content of the template `devices-confirm`.
    func confirmation(_ content: [String: Any], _ exchange: Exchange) -> Response {
        render("devices-confirm", content, status: .ok, for: reader(exchange), policy: policy.leaving)
    }

    /// - Parameter content: The content of the template `confirm`.
    func confirmSignIn(_ content: [String: Any], _ look: ChannelLook, _ exchange: Exchange) -> Response {
        render("confirm", content, status: .ok, for: reader(exchange), look: look.page, policy: policy.leaving)
    }

    /// The form that carries the browser to the MVPD, by script or by its button.
    func continueToProvider(_ start: SignInStart, _ exchange: Exchange) -> Response {
        let fields = start.fields.map { ["name": $0.name, "value": $0.value] }
        return render("continue", ["url": start.url, "fields": fields], status: .ok, for: reader(exchange), policy: policy.handover)
    }
}

/// The face of browsers: refusals are pages.
struct BrowserFace: Face {
    private let notices: NoticePages
    /// Without a number to quote, in each language by its tag: the gateway has no time to make one.
    private let overloaded: [String: (fields: HTTPFields, body: ByteBuffer)]

    init(_ notices: NoticePages) {
        self.notices = notices
        overloaded = notices.pages.notice(.unavailable)
    }

    func reply(to error: any Error, _ fault: Fault, _ exchange: Exchange) -> Response {
        // Codes of the one table are none in the other.
        let statuses = [StatusTable.status(of: fault.code, at: .authenticate), AutoSignInErrors.row(for: fault.code).statuses[0]]
        if statuses.contains(503) { return notices.page(.unavailable, exchange) }
        return notices.page(statuses.contains { $0 < 500 } ? Self.notice(fault.code) : .failed, exchange)
    }

    /// - Parameter code: The code of a fault that is the request's.
    static func notice(_ code: Fault.Code) -> Pages.Notice {
        switch code {
        case .invalidRegistrationCode, .registrationCodeSpent: .codeUnknown
        case .unknownIntegration: .providerUnavailable
        default: .badRequest
        }
    }

    func reply(to problem: BodyRejection, _ exchange: Exchange) -> Response { notices.page(Self.notice(problem), exchange) }

    private static func notice(_ problem: BodyRejection) -> Pages.Notice {
        switch problem {
        // An oversized answer of an MVPD is one more failed check (mvpd §2.3, `bind.size`).
        case .tooLarge: .signInRefused
        case .tooSlow: .requestTimeout
        case .broken: .badRequest
        }
    }

    func methodNotAllowed(_ exchange: Exchange) -> Response { notices.page(.methodNotAllowed, exchange) }

    func paused(seconds: Int, _ exchange: Exchange) -> Response { notices.pause(seconds: seconds, exchange) }

    func notFound(_ request: Request, _ facts: RequestFacts) -> Response {
        let pages = notices.pages
        let reader = PageReader(
            pages.languages, request.headers, target: request.head.path ?? "", isGet: request.method == .get || request.method == .head,
            isSecure: facts.isSecure)
        return pages.message(.notFound, trace: facts.trace.traceID, for: reader)
    }

    func overloaded(_ request: OverloadedRequest) -> (HTTPFields, ByteBuffer) {
        overloaded[notices.pages.languages.best(request.language ?? "")?.tag ?? Languages.standard] ?? ([:], ByteBuffer())
    }
}
