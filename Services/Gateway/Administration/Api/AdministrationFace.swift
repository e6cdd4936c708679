internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore

/// The face of the administration API: always JSON (dashboard §5).
struct AdministrationFace: GuardedFace {
    func reply(to error: any Error, _ fault: Fault, _ exchange: Exchange) -> Response {
        let refusal = error as? AdministrationError ?? AdministrationError(fault)
        var response = Response(refusal.document(trace: exchange.facts.trace.traceID), format: .json, status: refusal.status)
        if refusal.status == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }

    func reply(to problem: BodyProblem, _ exchange: Exchange) -> Response {
        let code =
            switch problem {
            case .tooLarge: "too_large"
            case .tooSlow: "timeout"
            case .broken: "invalid_request"
            }
        return reply(problem.status, code: code, trace: exchange.facts.trace.traceID)
    }

    func methodNotAllowed(_ exchange: Exchange) -> Response {
        reply(.methodNotAllowed, code: "method_not_allowed", trace: exchange.facts.trace.traceID)
    }

    func notFound(_ request: Request, _ facts: RequestFacts) -> Response { reply(.notFound, code: "not_found", trace: facts.trace.traceID) }

    func overloaded(_ request: OverloadedRequest) -> (HTTPFields, ByteBuffer) {
        let document = AdministrationError(Fault(.overloaded, OverloadedRequest.message)).document(trace: request.trace)
        return (.unstored(ReplyFormat.json.contentType), document.body(.json))
    }

    func stranger(_ refusal: AdministrationNames.Refusal, trace: String) -> Response {
        let error =
            switch refusal {
            case .foreignHost:
                AdministrationError(
                    status: .misdirectedRequest, code: "foreign_host",
                    message: "This listener has no such name. Use its address in numbers or localhost, or list the name in gateway.admin.hosts.")
            case .foreignOrigin:
                AdministrationError(status: .forbidden, code: "foreign_origin", message: "Pages of other origins may not administer.")
            }
        return Response(error.document(trace: trace), format: .json, status: error.status)
    }

    private func reply(_ status: HTTPResponse.Status, code: String, trace: String) -> Response {
        let refusal = AdministrationError(status: status, code: code, message: status.reasonPhrase)
        return Response(refusal.document(trace: trace), format: .json, status: status)
    }
}
