internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// Sign in with Apple in a browser (apple §2.1): to Apple's page, and back by a form that Apple posts.
struct AppleWebEndpoints: Sendable {
    let dependencies: Dependencies

    @Sendable func start(_ exchange: Exchange) async throws -> Response {
        let requestor = try dependencies.catalogue.current().requireRequestor(try exchange.captured("requestor"))
        let request = StartWebSignInRequest(requestor: requestor.id, returnURL: try exchange.value("returnUrl") ?? "")
        let start = try await dependencies.signInWithApple.startWebSignIn(request, context: exchange.changingCall)
        let pending = SignInStart(url: start.url, browserSecret: start.browserSecret, expiresInSeconds: start.expiresInSeconds)
        var response = Response.redirect(to: start.url)
        cookie(state: SignInCookie.relayState(of: pending), exchange).set(pending, among: exchange, in: &response)
        return response
    }

    @Sendable func callBack(_ exchange: Exchange) async throws -> Response {
        guard var request = answer(exchange) else {
            exchange.logger.warning("sign-in-rejected", metadata: ["reason": "apple.params"])
            return dependencies.pages.message(.appleRefused, exchange)
        }
        let cookie = cookie(state: request.state, exchange)
        request.browserSecret = cookie.value(in: exchange) ?? ""
        return try await complete(request, cookie, exchange)
    }

    /// - Parameter cookie: That of the pending sign-in; it goes with the outcome.
    func complete(_ request: CompleteWebSignInRequest, _ cookie: SignInCookie, _ exchange: Exchange) async throws -> Response {
        let outcome: WebSignInOutcome
        do { outcome = try await dependencies.signInWithApple.completeWebSignIn(request, context: exchange.changingCall) } catch let fault as Fault {
            guard AutoSignInErrors.status(AutoSignInErrors.row(for: fault.code)).code < 500 else { throw fault }
            exchange.logger.warning("sign-in-rejected", metadata: ["reason": "\(fault.code)"])
            return dependencies.pages.message(.appleRefused, exchange)
        }
        switch outcome.outcome {
        case .signedIn(let signedIn):
            var response = Response.redirect(to: Self.address(signedIn.returnURL))
            cookie.clear(in: &response, exchange)
            if let session = signedIn.session { DevicesCookie(dependencies.settings, exchange).set(session, in: &response) }
            return response
        case .cancelled(let cancelled):
            var response = Response.redirect(to: Self.address(cancelled.returnURL))
            cookie.clear(in: &response, exchange)
            return response
        case .ticket(let ticket): return confirmation(ticket, state: request.state, exchange)
        case nil: throw Fault(.internal, "The service gave no outcome.")
        }
    }

    func cookie(state: String, _ exchange: Exchange) -> SignInCookie {
        SignInCookie(relayState: state, isInsecure: dependencies.settings.insecureCookies && !exchange.facts.isSecure)
    }

    /// The person decides (apple §2.8): a new account, or the one there is.
    private func confirmation(_ ticket: TicketIssued, state: String, _ exchange: Exchange) -> Response {
        let content: [String: Any] =
            ticket.code == "account_exists" ? ["exists": true] : ["confirm": ["ticket": ticket.ticket, "state": String(state.prefix(16))]]
        return dependencies.pages.confirmation(content, exchange)
    }

    /// Each field at most once; nothing of it from the query.
    private func answer(_ exchange: Exchange) -> CompleteWebSignInRequest? {
        guard exchange.query.isEmpty, let state = only("state", exchange), let code = only("code", exchange),
            let token = only("id_token", exchange), let user = only("user", exchange), let error = only("error", exchange), !state.isEmpty
        else { return nil }
        return CompleteWebSignInRequest(state: state, code: code, identityToken: token, user: user, error: error)
    }

    /// - Returns: Empty when it was not sent; `nil` when it was sent twice, also with one value, or cannot be decoded.
    private func only(_ name: String, _ exchange: Exchange) -> String? {
        guard let values = try? exchange.all(name), values.count < 2 else { return nil }
        return values.first ?? ""
    }

    private static func address(_ url: String) -> String { url.isEmpty ? DevicesPages.path : url }
}
