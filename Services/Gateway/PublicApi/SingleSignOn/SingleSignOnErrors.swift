internal import Faults
internal import GatewayEdge

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

    // What the gateway finds itself.
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
