internal import Contracts
internal import Hummingbird

/// The browser's way back from an OAuth provider (mvpd §3).
extension SignInEndpoints {
    /// Exactly one `state`, and exactly one of `code` and `error`; each parameter at most once.
    @Sendable func callBack(_ exchange: Exchange) async throws -> Response {
        guard let request = answer(exchange) else {
            exchange.logger.warning("sign-in-rejected", metadata: ["reason": "oauth.params"])
            return dependencies.pages.message(.signInRefused, exchange)
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
