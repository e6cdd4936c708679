internal import Faults
internal import Hummingbird

/// Refusals of the administration API: always JSON (dashboard §5).
extension Refusals {
    func administrationReply(to error: any Error, _ fault: Fault, _ exchange: Exchange) -> Response {
        let refusal = error as? AdministrationError ?? AdministrationError(fault)
        var response = Response(refusal.document(trace: exchange.facts.trace.traceID), format: .json, status: refusal.status)
        if refusal.status == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }

    func administrationReply(_ status: HTTPResponse.Status, code: String, trace: String) -> Response {
        let refusal = AdministrationError(status: status, code: code, message: status.reasonPhrase)
        return Response(refusal.document(trace: trace), format: .json, status: status)
    }
}
