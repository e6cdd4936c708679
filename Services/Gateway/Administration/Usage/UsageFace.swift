internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore

/// The face of reports of usage: why there is none, in words for whoever asked (rest-v2 §7).
struct UsageFace: Face {
    private static let contentType = "text/plain; charset=utf-8"

    func reply(to error: any Error, _ fault: Fault, _ exchange: Exchange) -> Response {
        switch fault.code {
        case .accessDenied, .invalidClient: Self.reply(.unauthorized, "The access token is missing, over, or not accepted.")
        case .insufficientScope: Self.reply(.forbidden, "The access token is not for reports of usage.")
        case .notFound: Self.reply(.notFound, fault.message)
        case .invalidRequest: Self.reply(.badRequest, fault.message)
        case let code where code == .unimplemented || code.isTransient:
            Self.reply(.serviceUnavailable, "The service is temporarily unavailable.")
        default: Self.reply(.internalServerError, "An internal fault occurred.")
        }
    }

    func reply(to problem: BodyProblem, _ exchange: Exchange) -> Response { Self.reply(problem.status, problem.status.reasonPhrase) }

    func methodNotAllowed(_ exchange: Exchange) -> Response { Self.reply(.methodNotAllowed, "Only GET is served here.") }

    func notFound(_ request: Request, _ facts: RequestFacts) -> Response { Self.reply(.notFound, "There is no such address.") }

    func overloaded(_ request: OverloadedRequest) -> (HTTPFields, ByteBuffer) {
        (.unstored(Self.contentType), ByteBuffer(string: OverloadedRequest.message))
    }

    static func reply(_ status: HTTPResponse.Status, _ message: String) -> Response {
        var response = Response(text: message + "\n", type: contentType, cacheControl: "no-store")
        response.status = status
        if status == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }
}
