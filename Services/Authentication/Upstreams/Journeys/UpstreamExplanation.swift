internal import BridgeClient
internal import Contracts
internal import SamlExplanation

/// A sign-in through an upstream, step by step in their order (bridge §14.1).
struct UpstreamExplanation: Sendable {
    private enum Outcome {
        case passed(String)
        case failed(reason: String, String, hint: String)
        case notReached
        case notNeeded(String)
        case notChecked(String)
    }

    private static let titles = [
        "the code leads to a device", "an upstream serves the MVPD", "our client is registered upstream", "it has a bearer",
        "upstream makes a session", "the browser is sent there", "the browser comes back", "upstream answers who is signed in",
        "somebody signed in at the MVPD", "the session is made",
    ]
    private static let elsewhere = "Another copy of the service did it."

    private let state: UpstreamJourney.State

    init(_ state: UpstreamJourney.State) { self.state = state }

    func record(trace: String) -> SignInRecord {
        let checks = checks
        let failed = checks.first { $0.outcome == .failed }
        return SignInRecord(
            trace: trace, endedAt: state.endedAt, requestor: state.parties?.requestor ?? "", mvpd: state.parties?.mvpd ?? "",
            result: result(failed), reason: state.end == nil ? "unfinished" : failed?.reason ?? "", checks: checks)
    }

    private func result(_ failed: SignInCheck?) -> SignInResult {
        switch state.end {
        case .signedIn?: .signedIn
        case .declined?, nil: .declined
        case .codeGone?, .failed?: .rejected
        }
    }

    var checks: [SignInCheck] {
        var hasFailed = false
        return zip(Self.titles.indices, outcomes).map { index, outcome in
            var check = SignInCheck(step: UInt32(index + 1), title: Self.titles[index])
            guard !hasFailed else {
                check.outcome = .notReached
                return check
            }
            switch outcome {
            case .passed(let text): (check.outcome, check.explanation) = (.passed, text)
            case .failed(let reason, let text, let hint):
                (check.outcome, check.reason, check.explanation, check.hint) = (.failed, reason, text, hint)
                hasFailed = true
            case .notReached: check.outcome = .notReached
            case .notNeeded(let text): (check.outcome, check.explanation) = (.notNeeded, text)
            case .notChecked(let text): (check.outcome, check.explanation) = (.notChecked, text)
            }
            return check
        }
    }

    private var outcomes: [Outcome] {
        let parties = state.parties
        let served = parties.map { "Upstream \($0.upstream), where the channel is \($0.serviceProvider) and the MVPD \($0.theirMvpd)." } ?? ""
        return [.passed(""), .passed(served), registration, bearer, creation, sending, returning, asking, finding, ending]
    }

    // MARK: Before the browser leaves

    private var registration: Outcome {
        if let call = last(.register) { return Self.outcome(call, good: "It was registered now") }
        if state.calls.isEmpty, case .failed(let reason)? = state.end {
            return .failed(
                reason: "refused", reason, hint: "'boxoffice upstream status' shows the alarms, 'boxoffice upstream check' tries it anew.")
        }
        return state.isForeign ? .notChecked(Self.elsewhere) : .passed("It was registered before.")
    }

    private var bearer: Outcome {
        if let call = last(.token) { return Self.outcome(call, good: "It is new") }
        return state.isForeign ? .notChecked(Self.elsewhere) : .passed("The one at hand holds.")
    }

    private var creation: Outcome {
        if let call = last(.create) { return Self.outcome(call, good: "It is there") }
        return state.isForeign ? .notChecked(Self.elsewhere) : .notReached
    }

    private var sending: Outcome {
        if state.isForeign { return .notChecked(Self.elsewhere) }
        if state.isSent { return .passed("") }
        // Without a browser it was asked who is signed in.
        if lastOfProfiles != nil { return .notNeeded("Upstream says that the device is signed in already.") }
        guard case .failed(let reason)? = state.end, last(.create)?.failure == nil else { return .notReached }
        return .failed(
            reason: "unusable_session", reason,
            hint: "The address must lead to baseUrl, userAgentBaseUrl or one of browserHosts, and upstream must take our domain and return address.")
    }

    // MARK: After it

    private var returning: Outcome {
        guard state.isSent else { return lastOfProfiles == nil ? .notReached : .notNeeded("") }
        guard state.parties?.isOwnReturn == true else { return .notNeeded("The login ends at the app's own address.") }
        return state.isBack ? .passed("") : .notReached
    }

    private var asking: Outcome { lastOfProfiles.map { Self.outcome($0, good: "It answers") } ?? .notReached }

    private var finding: Outcome {
        guard lastOfProfiles != nil, let profiles = state.profiles else { return .notReached }
        guard let profile = profiles.first(where: { $0.mvpd == state.parties?.theirMvpd }) else {
            let others = profiles.isEmpty ? "Nobody is." : "Somebody is at \(profiles.map(\.mvpd).joined(separator: ", "))."
            return .failed(
                reason: "nobody", "\(others) Cancelled and declined look alike.",
                hint: "If all fail: the profile may be visible late, or the MVPD's name differs upstream (integrations[].upstream).")
        }
        return .passed("A profile of type \(profile.kind), with the attributes \(profile.attributes.joined(separator: ", ")).")
    }

    private var ending: Outcome {
        switch state.end {
        case .signedIn?: .passed("")
        case .codeGone?:
            .failed(reason: "code_gone", "The code was deleted during the login; upstream was told to forget it.", hint: "Nothing: the app gave up.")
        case .failed(let reason)? where state.profiles?.isEmpty == false: .failed(reason: "internal", reason, hint: "The service's log has more.")
        case .declined?, .failed?, nil: .notReached
        }
    }

    // MARK: Calls

    private func last(_ operation: BridgeOperation) -> UpstreamJourney.Call? { state.calls.last { $0.operation == operation } }

    private var lastOfProfiles: UpstreamJourney.Call? { state.calls.last { [.byCode, .profile, .profiles].contains($0.operation) } }

    private static func outcome(_ call: UpstreamJourney.Call, good: String) -> Outcome {
        let trace = call.trace.isEmpty ? "" : " Upstream knows the answer by the trace \(call.trace)."
        guard let failure = call.failure else { return .passed("\(good), \(call.milliseconds) ms.\(trace)") }
        if call.isBreakerOpen {
            return .failed(reason: "open", "Too many calls failed before: it is not asked for some seconds.", hint: "Look at what failed before.")
        }
        return .failed(
            reason: reason(failure), "Upstream: \(UpstreamWords.seen(failure)), after \(call.milliseconds) ms.\(trace)",
            hint: UpstreamWords.advice(call.operation, failure))
    }

    private static func reason(_ failure: BridgeFailure) -> String {
        switch failure {
        case .refused(let refusal): refusal.code
        case .unreachable: "unreachable"
        case .unusable: "unusable"
        case .serverError: "server_error"
        case .wrongAddress: "wrong_address"
        case .unauthorized: "unauthorized"
        case .throttled: "throttled"
        case .badRequest: "bad_request"
        }
    }
}

/// The operator's text about an upstream's answer: what came, and what to do about it. Nothing of it is secret or personal.
enum UpstreamWords {
    /// The alarm of a statement that no client can be registered with.
    /// - Parameter reference: The statement's name in the catalogue.
    static func refusedStatement(_ reference: String, of upstream: String, _ code: String) -> String {
        switch code {
        case "unapproved_software_statement":
            "Upstream \(upstream) refuses the software statement \(reference) as unapproved: revoked, or its application is not enabled for REST v2. "
                + "Get a new one and replace it."
        case "invalid_software_statement":
            "Upstream \(upstream) refuses the software statement \(reference) as invalid: it is damaged, or of another service. "
                + "Get a new one and replace it."
        case "scope_missing":
            "The client that upstream \(upstream) registers with the software statement \(reference) lacks the scope that clients[].scope asks for."
        case "statement_missing":
            "The software statement \(reference) of upstream \(upstream) is missing: 'boxoffice secret set' writes it."
        default: "Upstream \(upstream) refuses the software statement \(reference): \(code). Ask its operator what is wrong with it."
        }
    }

    /// - Parameter status: The answer's status, where one came.
    static func seen(_ failure: BridgeFailure) -> String {
        switch failure {
        case .unreachable(.notSent): "no connection"
        case .unreachable(.connectTimeout): "no connection in time"
        case .unreachable(.refusedAddress): "the name leads to this machine or into a private network"
        case .unreachable(.noCertificate): "no client certificate to show"
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
        case .unreachable(.noCertificate):
            "clientCertificate must name an entry of authentication.clientCertificates whose files can be read; changed files are taken in by themselves."
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
