import Contracts
import Logging
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// A browser's way through a sign-in by OAuth.
extension Rig {
    /// A browser at the OAuth provider.
    struct Visitor {
        let call: DeviceCall
        let code: RegistrationCode
        let start: SignInStart

        var request: [String: String] { ScriptedProvider.parameters(of: start.url) }
        var state: String { request["state"] ?? "" }
    }

    func visit(device: String = "dev-7f3a", requestor: String = "CHAN7", mvpd: String = "OpenFiber", passive: Bool = false) async throws -> Visitor {
        let call = call(try await bearer(), requestor: requestor, device: device)
        let code = try await code(call)
        var request = Rig.startRequest(code.code, requestor: requestor, mvpd: mvpd, redirect: "https://\(requestor.lowercased()).example/done")
        request.isPassive = passive
        return Visitor(call: call, code: code, start: try await service.startSignIn(request, context: context))
    }

    /// The answer that the provider sends the browser back with.
    func answer(_ visitor: Visitor) -> CompleteOAuthSignInRequest {
        CompleteOAuthSignInRequest(
            state: visitor.state, code: provider.authorize(visitor.start.url), browserSecret: visitor.start.browserSecret)
    }

    func finish(_ request: CompleteOAuthSignInRequest) async throws -> SignInOutcome {
        try await service.completeOAuthSignIn(request, context: context)
    }

    /// A whole sign-in at the OAuth provider.
    @discardableResult
    func signInByOAuth(device: String = "dev-7f3a", requestor: String = "CHAN7") async throws -> Visitor {
        let visitor = try await visit(device: device, requestor: requestor)
        #expect(try await finish(answer(visitor)).result == .signedIn)
        return visitor
    }

    func change(_ body: (inout OAuthEndpoint) -> Void) {
        catalogue.change { configuration in
            for index in configuration.mvpds.indices where configuration.mvpds[index].id == "OpenFiber" {
                guard case .oauth(var endpoint) = configuration.mvpds[index].signIn else { continue }
                body(&endpoint)
                configuration.mvpds[index].signIn = .oauth(endpoint)
            }
        }
    }

    /// As authorization sees the session.
    func subject(_ call: DeviceCall) async throws -> SessionSubject {
        try await sessions.findSession(SessionRequest(call: call), context: context)
    }

    /// A token for a decision.
    func providerToken(_ call: DeviceCall) async throws -> UpstreamToken {
        let id = try await subject(call).upstreamSessionID
        return try await sessions.getUpstreamToken(UpstreamTokenRequest(upstreamSessionID: id), context: context)
    }

    /// Those of another copy of the service on the same store.
    func providerTokens() -> ProviderTokens {
        ProviderTokens(
            client: modules.signIn.oauth.finisher.check.client, catalogue: catalogue, store: store, seal: modules.signIn.oauth.finisher.seal,
            clock: clock,
            metrics: AuthenticationMetrics(), logger: Logger(label: "test") { [log] _ in log })
    }
}
