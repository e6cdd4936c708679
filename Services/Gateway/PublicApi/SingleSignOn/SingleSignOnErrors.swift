internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore

/// Public error codes of the service that issues service tokens, with their actions and statuses (rest-v2 §2.14).
enum SingleSignOnErrors {
    /// - Parameters:
    ///   - isToken: True for the calls whose path is `/serviceToken`.
    ///   - lacksDevice: True when the call names no device.
    static func row(for code: Fault.Code, isToken: Bool, lacksDevice: Bool) -> ErrorTable.Row {
        if code.isTransient { return unavailable }
        return switch code {
        case .accessDenied, .invalidClient, .insufficientScope: unauthorized
        case .serviceTokenInvalid: tokenInvalid
        case .serviceTokenExpired: tokenExpired
        case headerMissing: missing(isToken: isToken)
        case .invalidDeviceID: lacksDevice ? missing(isToken: isToken) : headerIsInvalid
        case headerInvalid, .invalidDeviceInformation, .invalidRegistrationCode: headerIsInvalid
        case requestNull: requestIsNull
        case .invalidRequest, .invalidRequestor, .invalidMessage: requestInvalid
        default: internalError
        }
    }

    /// A status as these errors write it.
    static func words(_ status: Int) -> String { statusWords[status] ?? "INTERNAL_SERVER_ERROR" }

    private static let statusWords = [
        400: "BAD_REQUEST", 401: "UNAUTHORIZED", 405: "METHOD_NOT_ALLOWED", 408: "REQUEST_TIMEOUT", 413: "PAYLOAD_TOO_LARGE",
        500: "INTERNAL_SERVER_ERROR", 503: "SERVICE_UNAVAILABLE",
    ]

    // The gateway's own findings.
    static let headerMissing = Fault.Code(rawValue: "header_missing")
    static let headerInvalid = Fault.Code(rawValue: "header_invalid")
    static let requestNull = Fault.Code(rawValue: "request_null")

    /// Only where a token is asked for has it 400.
    static func missing(isToken: Bool) -> ErrorTable.Row {
        ErrorTable.Row(code: "header_missing", action: "check_headers", statuses: [isToken ? 400 : 401])
    }

    static let unauthorized = ErrorTable.Row(code: "unauthorized", action: "none", statuses: [401])
    private static let tokenInvalid = ErrorTable.Row(code: "token_invalid", action: "get_new_token", statuses: [400])
    private static let tokenExpired = ErrorTable.Row(code: "token_expired", action: "get_new_token", statuses: [401])
    private static let headerIsInvalid = ErrorTable.Row(code: "header_invalid", action: "get_new_token", statuses: [401])
    private static let requestIsNull = ErrorTable.Row(code: "request_null", action: "none", statuses: [400])
    static let requestInvalid = ErrorTable.Row(code: "request_invalid", action: "check_request_body", statuses: [400])
    static let internalError = ErrorTable.Row(code: "internal_error", action: "none", statuses: [500])
    // Not of the reference: what it has no answer for.
    static let unavailable = ErrorTable.Row(code: "service_unavailable", action: "retry", statuses: [503])
    static let methodNotAllowed = ErrorTable.Row(code: "method_not_allowed", action: "none", statuses: [405])
    static let requestTimeout = ErrorTable.Row(code: "request_timeout", action: "retry", statuses: [408])
    static let requestTooLarge = ErrorTable.Row(code: "request_too_large", action: "none", statuses: [413])

    static let rows = [
        missing(isToken: true), unauthorized, tokenInvalid, tokenExpired, headerIsInvalid, requestIsNull, requestInvalid, internalError, unavailable,
        methodNotAllowed, requestTimeout, requestTooLarge,
    ]
}

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

    func reply(to problem: BodyRejection, _ exchange: Exchange) -> Response {
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
