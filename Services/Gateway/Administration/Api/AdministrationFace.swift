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

    /// A caller that does not name the listener for administration as one of its own, or a page of another site.
    func stranger(_ refusal: AdministrationNames.Refusal, at path: String, trace: String) -> Response {
        if path == Console.path || path.hasPrefix(Console.path + "/") {
            return consoleReply(refusal == .foreignHost ? .foreignHost : .foreignOrigin, trace: trace)
        }
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

    func administrationReply(_ status: HTTPResponse.Status, code: String, trace: String) -> Response {
        let refusal = AdministrationError(status: status, code: code, message: status.reasonPhrase)
        return Response(refusal.document(trace: trace), format: .json, status: status)
    }
}
