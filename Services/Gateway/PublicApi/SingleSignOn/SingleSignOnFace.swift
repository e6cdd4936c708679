internal import Faults
internal import Hummingbird

/// Refusals of the service that issues service tokens: always JSON, the object of rest-v2 §3 under `error` (rest-v2 §2.14).
extension Refusals {
    func singleSignOnReply(_ fault: Fault, isToken: Bool, _ exchange: Exchange) -> Response {
        if fault.code == .tooManyRequests { return Self.tooManyRequests(retryAfter: Int(Self.retrySeconds(fault))) }
        let lacksDevice = exchange.headers[values: .apDeviceIdentifier].isEmpty
        let row = SingleSignOnErrors.row(for: fault.code, isToken: isToken, lacksDevice: lacksDevice)
        let message =
            switch row.statuses[0] {
            case 500: "An internal fault occurred."
            case 503: "The service is temporarily unavailable."
            default: fault.message
            }
        var response = singleSignOnReply(row, message: message, exchange.facts)
        if row.code == SingleSignOnErrors.unauthorized.code { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }

    func singleSignOnReply(_ row: ErrorTable.Row, message: String, _ facts: RequestFacts) -> Response {
        let status = HTTPResponse.Status(code: row.statuses[0])
        return Response(
            Self.wrapped(row, message: message, help: facts.host.help(row.code), trace: facts.trace.traceID), format: .json, status: status)
    }

    func singleSignOnReply(_ problem: BodyProblem, _ facts: RequestFacts) -> Response {
        let (row, message) =
            switch problem {
            case .tooLarge: (SingleSignOnErrors.requestTooLarge, "The body is too large.")
            case .tooSlow: (SingleSignOnErrors.requestTimeout, "The body took too long.")
            case .broken: (SingleSignOnErrors.requestInvalid, "The body did not come as its head said.")
            }
        return singleSignOnReply(row, message: message, facts)
    }

    static func wrapped(_ row: ErrorTable.Row, message: String, help: String, trace: String) -> Document {
        let status = row.statuses[0]
        let error = ErrorDocument.enhanced(
            action: row.action, status: status, code: row.code, message: message, details: nil, help: help, trace: uuid(trace))
        return Document("response", [.init("status", .text(SingleSignOnErrors.words(status))), .init("error", .object(error.members))])
    }
}
