internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore

/// The face of the service that issues service tokens: always JSON, the object of rest-v2 §3 under `error` (rest-v2 §2.14).
struct SingleSignOnFace: Face {
    func reply(to error: any Error, _ fault: Fault, _ exchange: Exchange) -> Response {
        if fault.code == .tooManyRequests { return .tooManyRequests(retryAfter: Int(fault.retrySeconds)) }
        let isToken = if case .singleSignOn(let isToken) = exchange.audience { isToken } else { false }
        let lacksDevice = exchange.headers[values: .apDeviceIdentifier].isEmpty
        let row = SingleSignOnErrors.row(for: fault.code, isToken: isToken, lacksDevice: lacksDevice)
        let message =
            switch row.statuses[0] {
            case 500: "An internal fault occurred."
            case 503: "The service is temporarily unavailable."
            default: fault.message
            }
        var response = reply(row, message: message, exchange)
        if row.code == SingleSignOnErrors.unauthorized.code { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }

    func reply(to problem: BodyProblem, _ exchange: Exchange) -> Response {
        let (row, message) =
            switch problem {
            case .tooLarge: (SingleSignOnErrors.requestTooLarge, "The body is too large.")
            case .tooSlow: (SingleSignOnErrors.requestTimeout, "The body took too long.")
            case .broken: (SingleSignOnErrors.requestInvalid, "The body did not come as its head said.")
            }
        return reply(row, message: message, exchange)
    }

    func methodNotAllowed(_ exchange: Exchange) -> Response {
        reply(SingleSignOnErrors.methodNotAllowed, message: "Method Not Allowed", exchange)
    }

    func overloaded(_ request: OverloadedRequest) -> (HTTPFields, ByteBuffer) {
        let row = SingleSignOnErrors.unavailable
        let document = Self.document(row, message: OverloadedRequest.message, help: request.host.help(row.code), trace: request.trace)
        return (.unstored(ReplyFormat.json.contentType), document.body(.json))
    }

    private func reply(_ row: ErrorTable.Row, message: String, _ exchange: Exchange) -> Response {
        let facts = exchange.facts
        return Response(
            Self.document(row, message: message, help: facts.host.help(row.code), trace: facts.trace.traceID), format: .json,
            status: HTTPResponse.Status(code: row.statuses[0]))
    }

    private static func document(_ row: ErrorTable.Row, message: String, help: String, trace: String) -> Document {
        let status = row.statuses[0]
        let error = ErrorDocument.enhanced(
            action: row.action, status: status, code: row.code, message: message, details: nil, help: help, trace: V2Face.uuid(trace))
        return Document("response", [.init("status", .text(SingleSignOnErrors.words(status))), .init("error", .object(error.members))])
    }
}
