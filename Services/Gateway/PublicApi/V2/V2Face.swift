internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore

/// The face of REST v2: always JSON, always the object of rest-v2 §3.
struct V2Face: Face {
    func reply(to error: any Error, _ fault: Fault, _ exchange: Exchange) -> Response {
        // One call too many has one form at every door (rest-v2 §1.4).
        if fault.code == .tooManyRequests { return .tooManyRequests(retryAfter: Int(fault.retrySeconds)) }
        let row = V2Errors.row(for: fault.code)
        var response = reply(row, message: Self.message(fault, row), details: fault.details, exchange.facts)
        if row.action == "application-registration" { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }

    private static func message(_ fault: Fault, _ row: ErrorTable.Row) -> String {
        if let fixed = V2Errors.fixedMessage(row) { return fixed }
        return switch row.statuses[0] {
        case 500 where row.code == V2Errors.internalError.code: "An internal fault occurred."
        case 503: "The service is temporarily unavailable."
        default: fault.message
        }
    }

    func reply(to problem: BodyProblem, _ exchange: Exchange) -> Response {
        let (row, message) =
            switch problem {
            case .tooLarge: (V2Errors.requestTooLarge, "The body is too large.")
            case .tooSlow: (V2Errors.requestTimeout, "The body took too long.")
            case .broken: (V2Errors.invalidRequest, "The body did not come as its head said.")
            }
        return reply(row, message: message, exchange.facts)
    }

    /// The reference's answer to another method (rest-v2 D4).
    func methodNotAllowed(_ exchange: Exchange) -> Response { Response(Document("error", []), format: .json, status: .methodNotAllowed) }

    func notFound(_ request: Request, _ facts: RequestFacts) -> Response {
        reply(V2Errors.notFound, message: "There is no such address.", facts)
    }

    func overloaded(_ request: OverloadedRequest) -> (HTTPFields, ByteBuffer) {
        let document = ErrorDocument.enhanced(V2Errors.unavailable, request, trace: Self.uuid(request.trace))
        return (.unstored(ReplyFormat.json.contentType), document.body(.json))
    }

    private func reply(_ row: ErrorTable.Row, message: String, details: String? = nil, _ facts: RequestFacts) -> Response {
        let status = HTTPResponse.Status(code: row.statuses[0])
        return Response(Self.document(row, message: message, details: details, facts), format: .json, status: status)
    }

    static func document(_ row: ErrorTable.Row, message: String, details: String? = nil, _ facts: RequestFacts) -> Document {
        ErrorDocument.enhanced(
            action: row.action, status: row.statuses[0], code: row.code, message: message, details: details, help: facts.host.help(row.code),
            trace: uuid(facts.trace.traceID))
    }

    /// The trace's 32 digits as the reference writes them (rest-v2 §3).
    static func uuid(_ trace: String) -> String {
        var text = ""
        for (index, digit) in trace.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }
}

extension ErrorDocument {
    /// Of a request that the gateway has no time for.
    static func enhanced(_ row: ErrorTable.Row, _ request: OverloadedRequest, trace: String) -> Document {
        enhanced(
            action: row.action, status: 503, code: row.code, message: OverloadedRequest.message, details: nil, help: request.host.help(row.code),
            trace: trace)
    }
}
