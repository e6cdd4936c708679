import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// Home-based authentication and passive sign-in (mvpd §3).
struct OAuthHomeTests {
    private func rig() throws -> Rig {
        let rig = try Rig()
        rig.change {
            $0.attemptHba = true
            $0.forceAuthnParameter = "prompt"
            $0.forceAuthnValue = "none"
        }
        return rig
    }

    @Test("mvpd §3: attemptHba sends the record's parameter; hba_status makes the session a home-based one")
    func attempts() async throws {
        let rig = try rig()
        rig.catalogue.change { configuration in
            for index in configuration.mvpds.indices { configuration.mvpds[index].hbaAuthnTtlSeconds = 7200 }
        }
        rig.provider.script.withLock { $0.extraClaims = #","hba_status":true"# }
        let visitor = try await rig.signInByOAuth()
        #expect(visitor.request["prompt"] == "none")
        let session = try await rig.session(visitor.call)
        #expect(session.expiresAtMilliseconds - session.createdAtMilliseconds == 7_200_000)
    }

    @Test("mvpd §3: a home-based session ends with the refresh token at the latest; another does not")
    func endsWithTheRefreshToken() async throws {
        let rig = try rig()
        rig.change { $0.refreshTokenTtlSeconds = 600 }
        rig.provider.script.withLock { $0.extraClaims = #","hba_status":"true""# }
        let home = try await rig.session(rig.signInByOAuth().call)
        #expect(home.expiresAtMilliseconds - home.createdAtMilliseconds == 600_000)
        rig.provider.script.withLock { $0.extraClaims = #","hba_status":"false""# }
        let away = try await rig.session(rig.signInByOAuth(device: "dev-2").call)
        #expect(away.expiresAtMilliseconds - away.createdAtMilliseconds > 600_000)
    }

    @Test("mvpd §3: login_required leads to one interactive request, and only to one", arguments: ["login_required", "interaction_required"])
    func asksAfterAll(_ error: String) async throws {
        let rig = try rig()
        let visitor = try await rig.visit()
        let outcome = try await rig.finish(
            CompleteOAuthSignInRequest(state: visitor.state, error: error, browserSecret: visitor.start.browserSecret))
        #expect(outcome.result == .continued)
        let next = Rig.Visitor(call: visitor.call, code: visitor.code, start: try #require(outcome.next))
        #expect(next.request["prompt"] == nil && next.state != visitor.state && next.start.browserSecret != visitor.start.browserSecret)
        #expect(next.request["nonce"] != visitor.request["nonce"] && next.request["code_challenge"] != visitor.request["code_challenge"])
        #expect(try await rig.finish(rig.answer(next)).result == .signedIn)

        let second = try await rig.visit(device: "dev-2")
        let again = try await rig.finish(
            CompleteOAuthSignInRequest(state: second.state, error: error, browserSecret: second.start.browserSecret))
        let last = Rig.Visitor(call: second.call, code: second.code, start: try #require(again.next))
        let end = try await rig.finish(CompleteOAuthSignInRequest(state: last.state, error: error, browserSecret: last.start.browserSecret))
        #expect(end.result == .declined && end.redirectURL == "https://chan7.example/done" && end.next == nil)
    }

    @Test("A passive request shows no page: login_required is no error")
    func passive() async throws {
        let rig = try rig()
        rig.catalogue.change { configuration in
            for index in configuration.mvpds.indices { configuration.mvpds[index].passiveAuthnEnabled = true }
        }
        let visitor = try await rig.visit(passive: true)
        #expect(visitor.request["prompt"] == "none")
        let outcome = try await rig.finish(
            CompleteOAuthSignInRequest(state: visitor.state, error: "login_required", browserSecret: visitor.start.browserSecret))
        #expect(outcome.result == .silent)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(visitor.call) }
    }

    @Test("The person cancels, the provider is in trouble, or the two sides do not fit")
    func otherErrors() async throws {
        let rig = try rig()
        func end(_ device: String, _ error: String) async throws -> SignInOutcome {
            let visitor = try await rig.visit(device: device)
            return try await rig.finish(
                CompleteOAuthSignInRequest(state: visitor.state, error: error, browserSecret: visitor.start.browserSecret))
        }
        let cancelled = try await end("dev-1", "access_denied")
        #expect(cancelled.result == .declined && cancelled.redirectURL == "https://chan7.example/done")
        await expectFault(.unavailable) { _ = try await end("dev-2", "temporarily_unavailable") }
        #expect(try await end("dev-3", "invalid_scope").result == .rejected)
        #expect(rig.log.lines.last?.fields["error"] == "invalid_scope")
        #expect(try await end("dev-4", "<script>").result == .rejected)
        #expect(rig.log.lines.last?.fields["error"] == "other")
    }
}
