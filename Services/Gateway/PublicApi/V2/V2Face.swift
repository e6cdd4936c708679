internal import Faults
internal import Hummingbird

/// Refusals of REST v2: always JSON, always the object of rest-v2 §3.
extension Refusals {
    func v2Reply(_ fault: Fault, _ facts: RequestFacts) -> Response {
        // One call too many has one form at every door (rest-v2 §1.4).
        if fault.code == .tooManyRequests { return Self.tooManyRequests(retryAfter: Int(Self.retrySeconds(fault))) }
        let row = V2Errors.row(for: fault.code)
        var response = v2Reply(row, message: Self.v2Message(fault, row), details: fault.details, facts)
        if row.action == "application-registration" { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }

    func v2Reply(_ row: ErrorTable.Row, message: String, details: String? = nil, _ facts: RequestFacts) -> Response {
        let status = HTTPResponse.Status(code: row.statuses[0])
        return Response(v2Document(row, message: message, details: details, facts), format: .json, status: status)
    }

    func v2Document(_ row: ErrorTable.Row, message: String, details: String? = nil, _ facts: RequestFacts) -> Document {
        ErrorDocument.enhanced(
            action: row.action, status: row.statuses[0], code: row.code, message: message, details: details, help: facts.host.help(row.code),
            trace: Self.uuid(facts.trace.traceID))
    }

    func v2Reply(_ problem: BodyProblem, _ facts: RequestFacts) -> Response {
        let (row, message) =
            switch problem {
            case .tooLarge: (V2Errors.requestTooLarge, "The body is too large.")
            case .tooSlow: (V2Errors.requestTimeout, "The body took too long.")
            case .broken: (V2Errors.invalidRequest, "The body did not come as its head said.")
            }
        return v2Reply(row, message: message, facts)
    }

    /// The reference's answer to another method (rest-v2 D4).
    static func v2MethodNotAllowed() -> Response { Response(Document("error", []), format: .json, status: .methodNotAllowed) }

    /// The trace's 32 digits as the reference writes them (rest-v2 §3).
    static func uuid(_ trace: String) -> String {
        var text = ""
        for (index, digit) in trace.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }

    private static func v2Message(_ fault: Fault, _ row: ErrorTable.Row) -> String {
        if let fixed = V2Errors.fixedMessage(row) { return fixed }
        return switch row.statuses[0] {
        case 500 where row.code == V2Errors.internalError.code: "An internal fault occurred."
        case 503: "The service is temporarily unavailable."
        default: fault.message
        }
    }
}
