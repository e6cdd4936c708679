internal import Contracts
internal import Faults
internal import Hummingbird

/// Refusals of Automatic Sign-In and Sign in with Apple: always JSON, always the object of rest-v2 §3.
extension Refusals {
    func autoSignInReply(_ fault: Fault, _ facts: RequestFacts) -> Response {
        let row = AutoSignInErrors.row(for: fault.code)
        var response = autoSignInReply(row, message: Self.message(fault, row), details: fault.details, facts)
        if response.status == .tooManyRequests { response.headers[.retryAfter] = String(Self.retrySeconds(fault)) }
        if row.action == "application-registration" { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }

    /// - Parameter more: Members beyond the common ones.
    func autoSignInReply(
        _ row: ErrorTable.Row, message: String, details: String? = nil, _ facts: RequestFacts, more: [Document.Member] = []
    ) -> Response {
        let status = AutoSignInErrors.status(row)
        let document = ErrorDocument.enhanced(
            action: row.action, status: status.code, code: row.code, message: message, details: details, help: facts.host.help(row.code),
            trace: facts.trace.traceID)
        return Response(Document("error", document.members + more), format: .json, status: status)
    }

    func autoSignInReply(_ problem: BodyProblem, _ facts: RequestFacts) -> Response {
        let (row, message) =
            switch problem {
            case .tooLarge: (AutoSignInErrors.requestTooLarge, "The body is too large.")
            case .tooSlow: (AutoSignInErrors.requestTimeout, "The body took too long.")
            case .broken: (AutoSignInErrors.invalidRequest, "The body did not come as its head said.")
            }
        return autoSignInReply(row, message: message, facts)
    }

    /// Apple's servers read nothing but the status (apple §2.9).
    func notificationReply(_ fault: Fault) -> Response {
        var response = Response.empty(AutoSignInErrors.status(AutoSignInErrors.row(for: fault.code)))
        if response.status == .tooManyRequests { response.headers[.retryAfter] = String(Self.retrySeconds(fault)) }
        return response
    }

    private static func message(_ fault: Fault, _ row: ErrorTable.Row) -> String {
        switch row.statuses[0] {
        case 500: "An internal fault occurred."
        case 503 where StatusTable.isTransient(fault.code): "The service is temporarily unavailable."
        default: fault.message
        }
    }
}
