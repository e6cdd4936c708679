internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore

/// The face of Automatic Sign-In and Sign in with Apple: always JSON, always the object of rest-v2 §3.
struct AutoSignInFace: Face {
    func reply(to error: any Error, _ fault: Fault, _ exchange: Exchange) -> Response {
        let row = AutoSignInErrors.row(for: fault.code)
        var response = reply(row, message: Self.message(fault, row), details: fault.details, exchange.facts)
        if response.status == .tooManyRequests { response.headers[.retryAfter] = String(fault.retrySeconds) }
        if row.action == "application-registration" { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }

    private static func message(_ fault: Fault, _ row: ErrorTable.Row) -> String {
        switch row.statuses[0] {
        case 500: "An internal fault occurred."
        case 503 where fault.code.isTransient: "The service is temporarily unavailable."
        default: fault.message
        }
    }

    func reply(to problem: BodyProblem, _ exchange: Exchange) -> Response {
        let (row, message) =
            switch problem {
            case .tooLarge: (AutoSignInErrors.requestTooLarge, "The body is too large.")
            case .tooSlow: (AutoSignInErrors.requestTimeout, "The body took too long.")
            case .broken: (AutoSignInErrors.invalidRequest, "The body did not come as its head said.")
            }
        return reply(row, message: message, exchange.facts)
    }

    func methodNotAllowed(_ exchange: Exchange) -> Response {
        reply(AutoSignInErrors.methodNotAllowed, message: "Method Not Allowed", exchange.facts)
    }

    func notFound(_ request: Request, _ facts: RequestFacts) -> Response {
        reply(AutoSignInErrors.notFound, message: "There is no such address.", facts)
    }

    func overloaded(_ request: OverloadedRequest) -> (HTTPFields, ByteBuffer) {
        let document = ErrorDocument.enhanced(AutoSignInErrors.row(for: .overloaded), request, trace: request.trace)
        return (.unstored(ReplyFormat.json.contentType), document.body(.json))
    }

    /// - Parameter more: Members beyond the common ones.
    func reply(_ row: ErrorTable.Row, message: String, details: String? = nil, _ facts: RequestFacts, more: [Document.Member] = []) -> Response {
        let status = AutoSignInErrors.status(row)
        let document = ErrorDocument.enhanced(
            action: row.action, status: status.code, code: row.code, message: message, details: details, help: facts.host.help(row.code),
            trace: facts.trace.traceID)
        return Response(Document("error", document.members + more), format: .json, status: status)
    }
}

/// The face of Apple's servers, which read nothing but the status (apple §2.9).
struct NotificationFace: Face {
    func reply(to error: any Error, _ fault: Fault, _ exchange: Exchange) -> Response {
        var response = Response.empty(AutoSignInErrors.status(AutoSignInErrors.row(for: fault.code)))
        if response.status == .tooManyRequests { response.headers[.retryAfter] = String(fault.retrySeconds) }
        return response
    }

    func reply(to problem: BodyProblem, _ exchange: Exchange) -> Response { .empty(problem.status) }

    func methodNotAllowed(_ exchange: Exchange) -> Response { .empty(.methodNotAllowed) }

    func overloaded(_ request: OverloadedRequest) -> (HTTPFields, ByteBuffer) { ([.cacheControl: "no-store"], ByteBuffer()) }
}
