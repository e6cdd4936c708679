internal import Contracts
internal import GatewayEdge
internal import Hummingbird

/// The browser's way through the logouts of the MVPDs (mvpd §2.7).
struct SingleLogoutEndpoints: Sendable {
    let dependencies: Dependencies

    private static let messages = ["SAMLRequest", "SAMLResponse"]

    /// The address that a logout gave.
    @Sendable func visit(_ exchange: Exchange) async throws -> Response {
        let request = VisitLogoutRequest(handle: try exchange.required("handle"))
        return reply(try await dependencies.authentication.visitLogout(request, context: exchange.changingCall), exchange)
    }

    /// Back from an upstream's logout page (bridge §10.2).
    @Sendable func visited(_ exchange: Exchange) async throws -> Response { try await goOn(try exchange.captured("handle"), exchange) }

    /// Back from an OpenID provider's logout (OpenID Connect RP-Initiated Logout 1.0 §3). One that leaves `state` out has signed the person out all the same.
    @Sendable func returned(_ exchange: Exchange) async throws -> Response {
        let states = (try? exchange.all("state")) ?? []
        guard let state = states.first, states.count == 1, !state.isEmpty else { return dependencies.pages.message(.loggedOut, exchange) }
        return try await goOn(state, exchange)
    }

    /// Whoever comes too late is signed out all the same.
    private func goOn(_ handle: String, _ exchange: Exchange) async throws -> Response {
        let request = VisitLogoutRequest(handle: handle)
        let step = try await dependencies.authentication.visitLogout(request, context: exchange.changingCall)
        return step.result == .rejected ? dependencies.pages.message(.loggedOut, exchange) : reply(step, exchange)
    }

    /// An MVPD's answer, or its own request.
    @Sendable func receive(_ exchange: Exchange) async throws -> Response {
        let sent = Self.messages.map { (try? exchange.all($0)) ?? [] }
        if exchange.hasReadableParameters, sent.allSatisfy({ $0.allSatisfy(\.isEmpty) }) {
            return dependencies.pages.message(.noSamlMessage, exchange)
        }
        // A redirected message is signed as it was sent: the service reads it from there, and from nothing that was decoded before.
        guard let message = exchange.method == .get ? SamlLogoutMessage(query: exchange.query) : posted(sent, exchange) else {
            exchange.logger.warning("logout-rejected", metadata: ["reason": "bind.params"])
            return dependencies.pages.message(.logoutRefused, exchange)
        }
        return reply(try await dependencies.authentication.receiveSamlLogout(message, context: exchange.changingCall), exchange)
    }

    /// - Returns: `nil` unless there is exactly one message and nothing that belongs to the other binding.
    private func posted(_ sent: [[String]], _ exchange: Exchange) -> SamlLogoutMessage? {
        guard exchange.query.isEmpty, sent.map(\.count).reduce(0, +) == 1, let states = try? exchange.all("RelayState"), states.count < 2,
            exchange.lacks("SigAlg"), exchange.lacks("Signature")
        else { return nil }
        return SamlLogoutMessage(samlRequest: sent[0].first ?? "", samlResponse: sent[1].first ?? "", relayState: states.first ?? "")
    }

    private func reply(_ step: LogoutStep, _ exchange: Exchange) -> Response {
        let trace = step.traceID.isEmpty ? exchange.facts.trace.traceID : step.traceID
        switch step.result {
        case .goesOn where step.fields.isEmpty: return .redirect(to: step.url)
        case .goesOn: return dependencies.pages.continueToProvider(SignInStart(url: step.url, fields: step.fields), exchange)
        case .done: return dependencies.pages.message(.loggedOut, trace: trace, exchange)
        case .rejected, .unknown, .unrecognized: return dependencies.pages.message(.logoutRefused, trace: trace, exchange)
        }
    }
}
