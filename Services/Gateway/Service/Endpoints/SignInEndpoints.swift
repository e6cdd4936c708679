internal import Contracts
internal import Faults
internal import Hummingbird

/// The browser's way to the MVPD and back (rest-v1 §3.7, §3.8).
struct SignInEndpoints: Sendable {
    let dependencies: Dependencies

    @Sendable func authenticate(_ exchange: Exchange) async throws -> Response {
        // The requestor is checked before the other parameters (rest-v1 §2.8).
        let requestor: String
        do { requestor = try exchange.required("requestor_id") } catch { throw Fault(.invalidRequestor, error.message) }
        _ = try dependencies.catalogue.current().requireRequestor(requestor)
        let request = StartSignInRequest(
            requestor: requestor, mvpd: try exchange.required("mso_id"), registrationCode: try exchange.required("reg_code"),
            domainName: try exchange.required("domain_name"), redirectURL: try exchange.required("redirect_url"),
            clientAddress: exchange.facts.clientAddress.text, genericData: try exchange.value("generic_data") ?? "",
            isPassive: try exchange.value("passive") == "true")
        return try await start(request, exchange)
    }

    /// Sends the browser to the MVPD: by redirect, or by a form that submits itself.
    func start(_ request: StartSignInRequest, _ exchange: Exchange) async throws -> Response {
        let start = try await dependencies.authentication.startSignIn(request, context: exchange.changingCall)
        var response = start.fields.isEmpty ? Response.redirect(to: start.url) : dependencies.pages.continueToProvider(start)
        // An MVPD that is not asked (TempPass, degradation) leaves nothing pending.
        if !start.browserSecret.isEmpty {
            cookie(relayState: SignInCookie.relayState(of: start), exchange).set(start, among: exchange, in: &response)
        }
        return response
    }

    @Sendable func consume(_ exchange: Exchange) async throws -> Response {
        switch message(exchange) {
        case .none:
            return dependencies.pages.message(.noSamlMessage, trace: exchange.facts.trace.traceID)
        case .unusable:
            exchange.logger.warning("sign-in-rejected", metadata: ["reason": "bind.params"])
            return dependencies.pages.message(.signInRefused, trace: exchange.facts.trace.traceID)
        case .answer(let request, let cookie):
            let outcome = try await dependencies.authentication.completeSamlSignIn(request, context: exchange.changingCall)
            var response = reply(outcome, exchange)
            cookie.clear(in: &response)
            return response
        }
    }

    private enum Message {
        case none
        case unusable
        case answer(CompleteSamlSignInRequest, SignInCookie)
    }

    /// Step A.1 of the ordered checks (mvpd §2.3).
    private func message(_ exchange: Exchange) -> Message {
        guard let responses = try? exchange.all("SAMLResponse"), let states = try? exchange.all("RelayState") else { return .unusable }
        let foreign = ["SAMLRequest", "SigAlg", "Signature"].contains { name in (try? exchange.all(name))?.isEmpty == false }
        if responses.allSatisfy(\.isEmpty), !foreign { return .none }
        guard exchange.method == .post, responses.count == 1, states.count < 2, !foreign else { return .unusable }
        let cookie = cookie(relayState: states.first ?? "", exchange)
        let request = CompleteSamlSignInRequest(
            samlResponse: responses[0], relayState: states.first ?? "", relayStatePresent: !states.isEmpty,
            browserSecret: cookie.value(in: exchange) ?? "")
        return .answer(request, cookie)
    }

    func reply(_ outcome: SignInOutcome, _ exchange: Exchange) -> Response {
        switch outcome.result {
        case .signedIn, .declined: return .redirect(to: outcome.redirectURL)
        case .silent: return outcome.redirectURL.isEmpty ? .empty(.noContent) : .redirect(to: outcome.redirectURL)
        case .continued: return .redirect(to: outcome.next?.url ?? "")
        case .rejected, .unknown, .unrecognized:
            return dependencies.pages.message(.signInRefused, trace: outcome.traceID.isEmpty ? exchange.facts.trace.traceID : outcome.traceID)
        }
    }

    /// Over HTTPS the cookie is always a secure one.
    func cookie(relayState: String, _ exchange: Exchange) -> SignInCookie {
        SignInCookie(relayState: relayState, isInsecure: dependencies.settings.insecureCookies && !exchange.facts.isSecure)
    }
}
