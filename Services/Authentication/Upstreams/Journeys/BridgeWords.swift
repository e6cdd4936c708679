internal import BridgeClient

/// What an operator reads of an upstream's answer: what came, and what to do about it. Nothing of it is secret or personal.
enum BridgeWords {
    /// - Parameter status: Of the answer, where one came.
    static func seen(_ failure: BridgeFailure) -> String {
        switch failure {
        case .unreachable(.notSent): "no connection"
        case .unreachable(.connectTimeout): "no connection in time"
        case .unreachable(.refusedAddress): "the name leads to this machine or into a private network"
        case .unreachable(.responseTimeout), .unreachable(.budgetSpent): "no answer in time"
        case .unreachable(.resetBeforeAnswer): "the connection broke before an answer"
        case .unreachable(.unusable): "no whole answer, or TLS failed"
        case .unreachable(.cancelled): "nobody waited for the answer"
        case .unusable(let problem): "an answer that is not the API's: \(problem)"
        case .serverError(let status), .wrongAddress(let status), .badRequest(let status): "\(status)"
        case .unauthorized: "401"
        case .throttled: "429"
        case .refused(let refusal): "\(refusal.status == 0 ? "" : "\(refusal.status) ")\(refusal.code)"
        }
    }

    static func advice(_ operation: BridgeOperation, _ failure: BridgeFailure) -> String {
        switch failure {
        case .unreachable(.refusedAddress):
            "baseUrl must name a host of the internet; for one in a network of yours set authentication.allowPrivateUpstreams."
        case .unreachable(.unusable):
            "Compare the server's certificate with trustAnchors; it must be the name's, and its chain known."
        case .unreachable: "Look at baseUrl, the network, and timeoutsMs; upstream itself may be away."
        case .unusable: "baseUrl must be a REST API v2: ask its operator what answered."
        case .serverError: "Upstream is in trouble: ask its operator, who finds the call by the trace."
        case .wrongAddress: "baseUrl is not the origin of a REST API v2."
        case .unauthorized: "The client may not do this: the statement's application must cover the service provider, the platform and the scope."
        case .throttled: "Upstream throttles: this cluster's addresses must be allow-listed, so that X-Forwarded-For counts."
        case .badRequest: "Upstream refuses the call without a known code: ask its operator."
        case .refused(let refusal): advice(operation, refusal)
        }
    }

    private static func advice(_ operation: BridgeOperation, _ refusal: BridgeRefusal) -> String {
        switch refusal.code {
        case "statement_missing": "The secret that statementReference names is not there: 'boxoffice secret set' writes it."
        case "unapproved_software_statement", "invalid_software_statement":
            "The statement is revoked, not of this upstream, or its application is not enabled for REST v2: get another, keep it under a new reference, and name that."
        case "scope_missing": "The statement's application lacks the scope that clients[].scope asks for."
        case "invalid_client": "Upstream has forgotten our client: the next call registers another; 'boxoffice upstream reset' does it by hand."
        case "invalid_integration", "invalid_parameter_mvpd":
            "The MVPD is not integrated upstream: look at integrations[].upstream, and ask its operator."
        case "invalid_parameter_service_provider": "requestors[].upstream.serviceProvider is not known upstream."
        case "invalid_parameter_redirect_url": "The host of returnOrigin must lie below a domain that is registered upstream."
        case "invalid_parameter_domain_name", "invalid_parameter_domain":
            "The requestor's domain must be registered upstream, or mapped by domainNames."
        default:
            operation == .register ? "Ask the upstream's operator what is wrong with the statement." : "Ask the upstream's operator about the code."
        }
    }
}
