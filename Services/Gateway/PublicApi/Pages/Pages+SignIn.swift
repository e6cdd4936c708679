internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore

extension Pages {
    /// The message for the sender of the request; a sign-in that failed can be tried again where it began at our own pages.
    func message(_ notice: Notice, trace: String? = nil, _ exchange: Exchange) -> Response {
        let choice = notice == .signInRefused ? PendingActivation(exchange)?.choice : nil
        return message(notice, trace: trace ?? exchange.facts.trace.traceID, for: reader(exchange), choice: choice)
    }

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
    private let pages: Pages
    /// Without a number to quote, in each language by its tag: the gateway has no time to make one.
    private let overloaded: [String: (fields: HTTPFields, body: ByteBuffer)]

    init(_ pages: Pages) {
        self.pages = pages
        overloaded = pages.notice(.unavailable)
    }

    func reply(to error: any Error, _ fault: Fault, _ exchange: Exchange) -> Response {
        // Codes of the one table are none in the other.
        let statuses = [StatusTable.status(of: fault.code, at: .authenticate), AutoSignInErrors.row(for: fault.code).statuses[0]]
        if statuses.contains(503) { return pages.message(.unavailable, exchange) }
        return pages.message(statuses.contains { $0 < 500 } ? .badRequest : .failed, exchange)
    }

    func reply(to problem: BodyRejection, _ exchange: Exchange) -> Response { pages.message(Self.notice(problem), exchange) }

    private static func notice(_ problem: BodyRejection) -> Pages.Notice {
        switch problem {
        // An oversized answer of an MVPD is one more failed check (mvpd §2.3, `bind.size`).
        case .tooLarge: .signInRefused
        case .tooSlow: .requestTimeout
        case .broken: .badRequest
        }
    }

    func methodNotAllowed(_ exchange: Exchange) -> Response { pages.message(.methodNotAllowed, exchange) }

    func notFound(_ request: Request, _ facts: RequestFacts) -> Response {
        let reader = PageReader(
            pages.languages, request.headers, target: request.head.path ?? "", isGet: request.method == .get || request.method == .head,
            isSecure: facts.isSecure)
        return pages.message(.notFound, trace: facts.trace.traceID, for: reader)
    }

    func overloaded(_ request: OverloadedRequest) -> (HTTPFields, ByteBuffer) {
        overloaded[pages.languages.best(request.language ?? "")?.tag ?? Languages.standard] ?? ([:], ByteBuffer())
    }
}
