import Contracts
import Cryptography
import Foundation
import OutboundHttp
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// Logout at an OpenID provider (OpenID Connect RP-Initiated Logout 1.0).
struct OpenIDLogoutTests {
    private static let end = "https://chan7.example/bye?from=tv&x=1"

    private func rig(_ backend: Backend = .sqlite) throws -> Rig {
        let rig = try Rig(backend)
        rig.change { $0.returnsFromLogout = true }
        return rig
    }

    /// Logs out in a browser, and opens the address that this gives.
    private func leave(_ rig: Rig, _ call: DeviceCall, end: String = end) async throws -> LogoutStep {
        let address = try await rig.service.logout(LogoutRequest(call: call, hasBrowser: true, redirectURL: end), context: rig.context).visitURL
        return try await rig.service.visitLogout(try handle(address, Rig.visitAddress), context: rig.context)
    }

    private func handle(_ address: String, _ place: String) throws -> VisitLogoutRequest {
        try #require(address.hasPrefix(place), "\(address)")
        return VisitLogoutRequest(handle: String(address.dropFirst(place.count)))
    }

    private func came(back state: String?, _ rig: Rig) async throws -> LogoutStep {
        try await rig.service.visitLogout(VisitLogoutRequest(handle: try #require(state)), context: rig.context)
    }

    @Test(
        "RP-Initiated Logout §2, §3: the provider gets the id_token and the one address that it knows, and `state` leads on to the app",
        arguments: Backend.allCases)
    func roundTrip(_ backend: Backend) async throws {
        let rig = try rig(backend)
        let call = try await rig.signInByOAuth().call
        let step = try await leave(rig, call)
        #expect(step.result == .goesOn && step.fields.isEmpty && step.url.hasPrefix("\(ScriptedProvider.issuer)/logout?"))
        let sent = ScriptedProvider.parameters(of: step.url)
        #expect(Set(sent.keys) == ["id_token_hint", "client_id", "post_logout_redirect_uri", "state"])
        #expect(sent["id_token_hint"]?.split(separator: ".").count == 3 && sent["client_id"] == "boxoffice")
        #expect(sent["post_logout_redirect_uri"] == Rig.returnAddress)
        let hint = try #require(sent["id_token_hint"])
        let back = try await came(back: sent["state"], rig)
        #expect(back.result == .goesOn && back.url == Self.end)
        #expect(try await came(back: sent["state"], rig).url == Self.end, "a page that is loaded again leads on, too")
        #expect(!rig.log.lines.contains { "\($0)".contains(hint) }, "no line has the id_token")
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(call) }
        for state in ["", "unknown"] { #expect(try await came(back: state, rig).result == .rejected) }
    }

    @Test("a visit may be made again for 15 minutes; then neither it nor the way back leads anywhere")
    func ends() async throws {
        let rig = try rig()
        let call = try await rig.signInByOAuth().call
        let request = LogoutRequest(call: call, hasBrowser: true, redirectURL: Self.end)
        let visit = try handle(try await rig.service.logout(request, context: rig.context).visitURL, Rig.visitAddress)
        let first = try await rig.service.visitLogout(visit, context: rig.context)
        #expect(try await rig.service.visitLogout(visit, context: rig.context) == LogoutStep(result: .goesOn, url: first.url, traceID: first.traceID))
        rig.clock.advance(by: PendingLogout.lifetime)
        #expect(try await rig.service.visitLogout(visit, context: rig.context).result == .rejected)
        #expect(try await came(back: ScriptedProvider.parameters(of: first.url)["state"], rig).result == .rejected)
    }

    @Test("without an id_token, as in sessions of before, or with one of more than 8 KiB, the person's id is the hint", arguments: [false, true])
    func subject(isLong: Bool) async throws {
        let rig = try rig()
        if isLong {
            rig.provider.script.withLock { $0.extraClaims = #","more":"\#(String(repeating: "x", count: 8000))""# }
        } else {
            rig.change { $0.jwksURL = "" }
            rig.provider.script.withLock { $0.sendsIdentityToken = false }
        }
        let sent = ScriptedProvider.parameters(of: try await leave(rig, try await rig.signInByOAuth().call).url)
        #expect(sent["logout_hint"] == "user-42" && sent["client_id"] == "boxoffice" && sent["id_token_hint"] == nil)
        // Where another claim is the id, nobody knows `sub`.
        rig.change { $0.userIDClaim = "householdID" }
        let other = ScriptedProvider.parameters(of: try await leave(rig, try await rig.signInByOAuth(device: "dev-2").call).url)
        #expect(other["logout_hint"] == nil && other["state"] != nil)
    }

    @Test("a record that does not say `own` keeps its address: the app's, without a hint")
    func app() async throws {
        let rig = try Rig()
        let step = try await leave(rig, try await rig.signInByOAuth().call)
        #expect(ScriptedProvider.parameters(of: step.url) == ["client_id": "boxoffice", "post_logout_redirect_uri": Self.end])
    }

    @Test("RP-Initiated Logout §2: what makes an address of more than 8,000 octets is posted")
    func form() async throws {
        let rig = try rig()
        rig.provider.script.withLock { $0.extraClaims = #","more":"\#(String(repeating: "x", count: 5500))""# }
        let step = try await leave(rig, try await rig.signInByOAuth().call)
        #expect(step.url == "\(ScriptedProvider.issuer)/logout")
        #expect(step.fields.map(\.name) == ["id_token_hint", "client_id", "post_logout_redirect_uri", "state"])
        #expect((step.fields.first?.value.utf8.count ?? 0) > 7000)
        #expect(try await came(back: step.fields.last?.value, rig).url == Self.end)
    }

    @Test("an app's own call, and one that names no address, end the session; there nobody is led to")
    func withoutBrowser() async throws {
        let rig = try rig()
        let call = try await rig.signInByOAuth().call
        #expect(try await rig.service.logout(LogoutRequest(call: call), context: rig.context) == LogoutResponse(ended: 1))
        let other = try await rig.signInByOAuth(device: "dev-2").call
        let step = try await leave(rig, other, end: "")
        let back = try await came(back: ScriptedProvider.parameters(of: step.url)["state"], rig)
        #expect(back.result == .done && back.url.isEmpty)
    }

    @Test("rest-v2 §2.11: v2's logout of a profile shows the id_token too")
    func profile() async throws {
        let rig = try rig()
        let call = try await rig.signInByOAuth().call
        let ended = try await rig.service.endProfile(
            EndProfileRequest(call: call, mvpd: "OpenFiber", redirectURL: "https://chan7.example/bye"), context: rig.context)
        let step = try await rig.service.visitLogout(try handle(ended.visitURL, Rig.visitAddress), context: rig.context)
        #expect(ScriptedProvider.parameters(of: step.url)["id_token_hint"] != nil)
    }

    @Test("an id_token opens for its own session, and its logout, alone")
    func sealing() throws {
        let seal = try OAuthKeys(.random()).seal
        let handle = RelayHandle("handle")
        let sealed = try seal.close(ProviderIdentityToken("a.b.c"), of: handle.digest)
        #expect(seal.open(sealed, of: handle.digest, as: ProviderIdentityToken.self)?.text == "a.b.c")
        #expect(seal.open(sealed, of: RelayHandle("other").digest, as: ProviderIdentityToken.self) == nil)
        #expect(seal.open(sealed, of: SessionID("handle"), as: ProviderIdentityToken.self) == nil)
    }
}
