internal import Catalogue
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import TextEncodings

/// The browser's way to the MVPD and back (rest-v1 §3.7, §3.8).
struct SignInEndpoints: Sendable {
    /// The page of confirmation sends a sign-in here that an app's own page began.
    static let confirmedPath = "/activate/authenticate"

    let dependencies: Dependencies
    var confirmation: SignInConfirmation { SignInConfirmation(dependencies: dependencies) }

    @Sendable func authenticate(_ exchange: Exchange) async throws -> Response {
        let request = try request(exchange)
        guard try dependencies.catalogue.current().requireRequestor(request.requestor).confirmsSignIn else {
            return try await start(request, exchange)
        }
        let code = try await dependencies.authentication.getRegistrationCode(
            RegistrationCodeRequest(requestor: request.requestor, code: request.registrationCode), context: exchange.call)
        let names = ["requestor_id", "mso_id", "reg_code", "domain_name", "redirect_url", "generic_data", "passive"]
        var fields: SignInConfirmation.Fields = []
        for name in names { if let value = try exchange.value(name) { fields.append((name, value)) } }
        return try confirmation.page(code, provider: request.mvpd, action: Self.confirmedPath, fields: fields, exchange)
    }

    /// The same once a person has confirmed it.
    @Sendable func authenticateConfirmed(_ exchange: Exchange) async throws -> Response {
        let request = try request(exchange)
        guard confirmation.isConfirmed(request.registrationCode, exchange) else {
            return dependencies.notices.page(.confirmationRefused, exchange)
        }
        return try await start(request, exchange)
    }

    private func request(_ exchange: Exchange) throws -> StartSignInRequest {
        // The requestor is checked before the other parameters (rest-v1 §2.8).
        let requestor: String
        do { requestor = try exchange.required("requestor_id") } catch { throw Fault(.invalidRequestor, error.message) }
        _ = try dependencies.catalogue.current().requireRequestor(requestor)
        exchange.serves([requestor])
        // It belongs to REST v2, where the code has the rest.
        if exchange.audience.isBrowser, try exchange.value("api") == "v2" {
            return StartSignInRequest(
                requestor: requestor, registrationCode: try exchange.required("reg_code"), clientAddress: exchange.facts.clientAddress.text, api: .v2)
        }
        return StartSignInRequest(
            requestor: requestor, mvpd: try exchange.required("mso_id"), registrationCode: try exchange.required("reg_code"),
            domainName: try exchange.required("domain_name"), redirectURL: try exchange.required("redirect_url"),
            clientAddress: exchange.facts.clientAddress.text, genericData: try exchange.value("generic_data") ?? "",
            isPassive: try exchange.value("passive") == "true",
            // A bearer that is none, or of somebody else, is as good as none here (clients §4.2).
            accessToken: ((try? Bearer.optional(exchange)) ?? nil) ?? "")
    }

    /// Sends the browser to the MVPD: by redirect, or by a form that submits itself.
    func start(_ request: StartSignInRequest, _ exchange: Exchange) async throws -> Response {
        var request = request
        request.bridgeSecrets = UpstreamCookie.values(in: exchange, isInsecure: isInsecure(exchange))
        return send(try await dependencies.authentication.startSignIn(request, context: exchange.changingCall), exchange)
    }

    /// An administrator's browser opens a test sign-in; the MVPD answers as it answers any.
    @Sendable func openTest(_ exchange: Exchange) async throws -> Response {
        let request = OpenTestSignInRequest(ticket: try exchange.captured("ticket"))
        do {
            return send(try await dependencies.authentication.openTestSignIn(request, context: exchange.changingCall), exchange)
        } catch let fault as Fault where fault.code == .notFound {
            return dependencies.notices.page(.testOver, exchange)
        }
    }

    private func send(_ start: SignInStart, _ exchange: Exchange) -> Response {
        var response = start.fields.isEmpty ? Response.redirect(to: start.url) : dependencies.pages.continueToProvider(start, exchange)
        // An MVPD that is not asked (TempPass, degradation) leaves nothing pending.
        if !start.browserSecret.isEmpty {
            cookie(relayState: SignInCookie.relayState(of: start), exchange).set(start, among: exchange, in: &response)
        }
        if !start.bridgeHandle.isEmpty {
            UpstreamCookie(handle: start.bridgeHandle, isInsecure: isInsecure(exchange)).set(start, among: exchange, in: &response)
        }
        return response
    }

    @Sendable func consume(_ exchange: Exchange) async throws -> Response {
        switch message(exchange) {
        case .none:
            return dependencies.notices.page(.noSamlMessage, exchange)
        case .unusable:
            exchange.logger.warning("sign-in-rejected", metadata: ["reason": "bind.params"])
            return dependencies.notices.page(.signInRefused, exchange)
        case .answer(let request, let cookie):
            let outcome = try await dependencies.authentication.completeSamlSignIn(request, context: exchange.changingCall)
            var response = reply(outcome, exchange)
            cookie.clear(in: &response, exchange)
            return response
        }
    }

    /// A browser says so where it loads the answer into something else than a page of its own.
    static func isEmbedded(_ exchange: Exchange) -> Bool {
        exchange.headers.value(.secFetchDest).map { $0 != "document" } ?? false
    }

    private enum Message {
        case none
        case unusable
        case answer(CompleteSamlSignInRequest, SignInCookie)
    }

    /// Step A.1 of the ordered checks (mvpd §2.3).
    private func message(_ exchange: Exchange) -> Message {
        // The POST binding is the only one that is offered: what stands in the address is none of the MVPD's (SAML bindings §3.5).
        guard let responses = try? exchange.sentInBody("SAMLResponse"), let states = try? exchange.sentInBody("RelayState"),
            let addressed = try? exchange.all("SAMLResponse")
        else { return .unusable }
        let foreign = ["SAMLRequest", "SigAlg", "Signature"].contains { name in (try? exchange.all(name))?.isEmpty == false }
        if addressed.allSatisfy(\.isEmpty), !foreign { return .none }
        guard exchange.method == .post, responses.count == 1, addressed.count == 1, states.count < 2, !foreign else { return .unusable }
        let cookie = cookie(relayState: states.first ?? "", exchange)
        let request = CompleteSamlSignInRequest(
            samlResponse: responses[0], relayState: states.first ?? "", relayStatePresent: !states.isEmpty,
            browserSecret: cookie.value(in: exchange) ?? "", isEmbedded: Self.isEmbedded(exchange))
        return .answer(request, cookie)
    }

    /// Back from an upstream's login (bridge §7.3): the page that nobody sees, and whose address tells nobody anything.
    @Sendable func returnFromBridge(_ exchange: Exchange) async throws -> Response {
        let handle = try exchange.captured("handle")
        if let address = try addressWithCookie(of: handle, exchange) { return .redirect(to: address) }
        let cookie = UpstreamCookie(handle: handle, isInsecure: isInsecure(exchange))
        let request = ReturnFromBridgeRequest(handle: handle, browserSecret: cookie.value(in: exchange))
        let outcome = try await dependencies.authentication.returnFromBridge(request, context: exchange.changingCall)
        if outcome.otherBrowser {
            return dependencies.notices.page(
                .otherBrowser, trace: outcome.traceID.isEmpty ? nil : outcome.traceID, requestor: outcome.requestor, exchange)
        }
        guard !outcome.redirectURL.isEmpty else { return dependencies.notices.page(.badRequest, exchange) }
        return reply(outcome, exchange)
    }

    /// Marks an address to which the gateway itself has sent the browser, so that a proxy that renames hosts makes no circle.
    private static let atHome = "here"

    /// Returns where the browser sends the cookie of a login that was confirmed: sign-ins begin at one host, and cookies belong to it.
    /// - Returns: `nil` where it is there already, and where no requestor whose browsers return to this host has sign-ins confirmed.
    private func addressWithCookie(of handle: String, _ exchange: Exchange) throws -> String? {
        let home = dependencies.settings.originOfSignIns
        guard let host = WebOrigin("http://\(exchange.authority)")?.host, let own = WebOrigin(home)?.host, OctetText(host) != OctetText(own),
            exchange.lacks(Self.atHome)
        else { return nil }
        let isConfirmed = try dependencies.catalogue.current().configuration.requestors.contains { requestor in
            requestor.confirmsSignIn
                && requestor.bridge.flatMap { WebOrigin($0.returnOrigin)?.host }.map { OctetText($0) == OctetText(host) } ?? false
        }
        return isConfirmed ? "\(home)/bridge/return/\(PercentEncoding.encode(handle))?\(Self.atHome)=1" : nil
    }

    /// Where upstreams think that a browser goes after a logout.
    @Sendable func signedOut(_ exchange: Exchange) async throws -> Response { dependencies.notices.page(.loggedOut, exchange) }

    func reply(_ outcome: SignInOutcome, _ exchange: Exchange) -> Response {
        switch outcome.result {
        case .signedIn:
            var response = Response.redirect(to: outcome.redirectURL)
            PendingActivation.finish(at: outcome.redirectURL, in: &response, exchange)
            return response
        case .declined: return .redirect(to: outcome.redirectURL)
        case .silent: return outcome.redirectURL.isEmpty ? .empty(.noContent) : .redirect(to: outcome.redirectURL)
        case .continued: return .redirect(to: outcome.next?.url ?? "")
        case .tested:
            var response = dependencies.notices.page(.testEnded, trace: outcome.traceID, exchange)
            if let verdict = outcome.verdict { response.headers[.testResult] = Self.word(verdict) }
            return response
        case .rejected, .unknown, .unrecognized:
            return dependencies.notices.page(
                .signInRefused, trace: outcome.traceID.isEmpty ? nil : outcome.traceID, requestor: outcome.requestor, exchange)
        }
    }

    /// The end of a scheduled sign-in, for the program that plays the test user's browser: result and reason. An MVPD's own text keeps only letters,
    /// digits and a few signs.
    private static func word(_ verdict: ScheduledSignInVerdict) -> String {
        let result =
            switch verdict.result {
            case .signedIn: "signedIn"
            case .declined, .silent: "declined"
            case .rejected, .continued, .tested, .unknown, .unrecognized: "rejected"
            }
        let reason = verdict.reason.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "._-:".contains($0)) }.prefix(64)
        return reason.isEmpty ? result : "\(result) \(reason)"
    }

    /// Over HTTPS the cookie is always a secure one.
    func cookie(relayState: String, _ exchange: Exchange) -> SignInCookie {
        SignInCookie(relayState: relayState, isInsecure: isInsecure(exchange))
    }

    private func isInsecure(_ exchange: Exchange) -> Bool {
        dependencies.settings.insecureCookies && !exchange.facts.isSecure
    }
}

/// The browser's way back from an OAuth provider (mvpd §3).
extension SignInEndpoints {
    /// Exactly one `state`, and exactly one of `code` and `error`; each parameter at most once.
    @Sendable func callBack(_ exchange: Exchange) async throws -> Response {
        guard let request = answer(exchange) else {
            exchange.logger.warning("sign-in-rejected", metadata: ["reason": "oauth.params"])
            return dependencies.notices.page(.signInRefused, exchange)
        }
        let cookie = cookie(relayState: request.state, exchange)
        var complete = request
        complete.browserSecret = cookie.value(in: exchange) ?? ""
        complete.isEmbedded = Self.isEmbedded(exchange)
        let outcome = try await dependencies.authentication.completeOAuthSignIn(complete, context: exchange.changingCall)
        var response = reply(outcome, exchange)
        cookie.clear(in: &response, exchange)
        if let next = outcome.next, outcome.result == .continued, !next.browserSecret.isEmpty {
            self.cookie(relayState: SignInCookie.relayState(of: next), exchange).set(next, among: exchange, in: &response)
        }
        return response
    }

    private func answer(_ exchange: Exchange) -> CompleteOAuthSignInRequest? {
        guard let state = only("state", exchange), let code = only("code", exchange), let error = only("error", exchange),
            let issuer = only("iss", exchange), let callback = try? exchange.captured("mvpd"), !state.isEmpty, code.isEmpty != error.isEmpty
        else { return nil }
        return CompleteOAuthSignInRequest(state: state, code: code, error: error, issuer: issuer, callback: callback)
    }

    /// - Returns: Empty when it was not sent; `nil` when it was sent twice, also with one value, or cannot be decoded.
    private func only(_ name: String, _ exchange: Exchange) -> String? {
        guard let values = try? exchange.all(name), values.count < 2 else { return nil }
        return values.first ?? ""
    }
}

/// Free preview (rest-v1 §3.21).
struct TempPassEndpoints: Sendable {
    let dependencies: Dependencies
    let reader: DeviceCallReader

    private static let rules = DeviceCallReader.Rules(requestorParameter: "requestor_id")

    @Sendable func preview(_ exchange: Exchange) async throws -> Response {
        let (call, request) = try await reader.read(exchange, Self.rules) { exchange throws(Fault) in
            StartFreePreviewRequest(
                mvpd: try exchange.required("mso_id"), domainName: try exchange.required("domain_name"),
                genericData: try exchange.value("generic_data") ?? "")
        }
        var complete = request
        complete.call = call
        _ = try await dependencies.authentication.startFreePreview(complete, context: exchange.changingCall)
        return .empty(.noContent)
    }
}
