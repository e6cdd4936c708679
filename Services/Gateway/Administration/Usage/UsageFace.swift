internal import Faults
internal import Hummingbird

/// Why there is no report, in words for whoever asked (rest-v2 §7).
extension Refusals {
    static func usageReply(_ fault: Fault) -> Response {
        switch fault.code {
        case .accessDenied, .invalidClient: usageReply(.unauthorized, "The access token is missing, over, or not accepted.")
        case .insufficientScope: usageReply(.forbidden, "The access token is not for reports of usage.")
        case .notFound: usageReply(.notFound, fault.message)
        case .invalidRequest: usageReply(.badRequest, fault.message)
        case let code where code == .unimplemented || StatusTable.isTransient(code):
            usageReply(.serviceUnavailable, "The service is temporarily unavailable.")
        default: usageReply(.internalServerError, "An internal fault occurred.")
        }
    }

    static func usageReply(_ status: HTTPResponse.Status, _ message: String) -> Response {
        var response = Response(text: message + "\n", type: "text/plain; charset=utf-8", cacheControl: "no-store")
        response.status = status
        if status == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }
}
