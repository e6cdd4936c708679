internal import Contracts
internal import Faults
internal import Foundation
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

/// Automatic Sign-In over HTTP (apple §4).
@Suite struct AutoSignInTokenTests {
    let gateway = TestGateway()
    private let order = #"{"bundleId":"example.acme.tv","environment":"sandbox","contextAuthorization":"granted","more":1}"#
    private let redemption = #"{"value":"\#(TestGateway.value)","bundleId":"example.acme.tv","environment":"production"}"#

    @Test func issuingIs201WithTheValueInTheBody() async throws {
        gateway.autoSignIn.issueToken.answer(
            with: IssuedToken(familyID: "f1", accountID: "a1", value: TestGateway.value, expiresAtMilliseconds: 1_930_384_800_123))
        let reply = try await gateway.post("tokens", json: order)
        #expect(reply.status == 201 && reply.headers[.cacheControl] == "no-store")
        #expect(reply.text == #"{"familyId":"f1","accountId":"a1","value":"\#(TestGateway.value)","expiresAt":1930384800123}"#)
        let request = try #require(gateway.autoSignIn.issueToken.requests.first)
        #expect(request.bundleID == "example.acme.tv" && request.environment == .sandbox && request.contextAuthorization == .granted)
        #expect(request.idempotencyKey == "key-1" && request.accountID.isEmpty)
        let call = try #require(request.call)
        #expect(call.accessToken == "good" && call.requestor == "ACME1" && call.deviceID == "dev-7f3a" && call.device?.model == "TV 5th Gen")
    }

    @Test func redeemingAnswersTheProfileMapAndTheSession() async throws {
        gateway.autoSignIn.redeemToken.answer(with: RedeemedToken(session: TestGateway.session, familyID: "f1", rotateSoon: true))
        let reply = try await gateway.post("redeem", json: redemption)
        #expect(reply.status == 200)
        let profile =
            #"{"NorthCable":{"notBefore":1930384000000,"notAfter":1930384800123,"issuer":"NorthCable","type":"regular","attributes":"#
            + #"{"userID":{"value":"u-4471","state":"plain"},"channelID":{"value":["c1","c2"],"state":"plain"},"#
            + #""maxRating":{"value":"Q2lwaGVy","state":"enc"}}}}"#
        #expect(
            reply.text == #"{"profiles":\#(profile),"accountId":"a1","sessionId":"s9","#
                + #""scopes":["stream:play","stream:progress","watchlist:read","watchlist:write"],"expiresAt":1930384800123,"rotateSoon":true}"#)
        let request = try #require(gateway.autoSignIn.redeemToken.requests.first)
        #expect(request.value == TestGateway.value && request.environment == .production && request.call?.deviceID == "dev-7f3a")
    }

    @Test func aProfileAlwaysHasAUser() async throws {
        var session = TestGateway.session
        session.tv?.metadata = nil
        gateway.autoSignIn.redeemToken.answer(with: RedeemedToken(session: session))
        let reply = try await gateway.post("redeem", json: redemption)
        #expect(reply.text.contains(#""attributes":{"userID":{"value":"abab"#))
    }

    @Test func withoutATVLoginTheMapIsEmpty() async throws {
        gateway.autoSignIn.redeemToken.answer(with: RedeemedToken(session: StreamingSession(id: "s", accountID: "a")))
        #expect(try await gateway.post("redeem", json: redemption).text.hasPrefix(#"{"profiles":{},"#))
    }

    @Test func confirmingTellsTheFamily() async throws {
        gateway.autoSignIn.confirmStored.answer(with: TokenFamily(id: "f1", state: .active, bundleID: "b", environment: .sandbox))
        let reply = try await gateway.post("tokens/f1/stored", json: #"{"outcome":"stored"}"#)
        #expect(reply.status == 200 && reply.json["state"] as? String == "active" && reply.json["environment"] as? String == "sandbox")
        let request = try #require(gateway.autoSignIn.confirmStored.requests.first)
        #expect(request.familyID == "f1" && request.outcome == .stored && request.idempotencyKey == "key-1")
    }

    @Test func theListNamesDevicesAndNeedsNoKey() async throws {
        gateway.autoSignIn.getOptInStatus.answer(
            with: OptInStatus(
                accountID: "a1",
                families: [
                    TokenFamily(
                        id: "f1", state: .active, bundleID: "b", environment: .production, deviceLabel: "Apple TV", createdAtMilliseconds: 5,
                        devices: [
                            SignedInDevice(sessionID: "s1", label: "iPad", requestor: "ACME1", signedInAtMilliseconds: 6, expiresAtMilliseconds: 7)
                        ])
                ], appleLinks: [AppleLink(id: "l1", teamID: "T", accountID: "a1", state: .active, isMailAllowed: true)]))
        let reply = try await gateway.get("/auto-signin/v1/ACME1/tokens", TestGateway.app.with(.idempotencyKey, nil))
        #expect(reply.status == 200)
        let device = #"{"sessionId":"s1","label":"iPad","requestor":"ACME1","signedInAt":6,"expiresAt":7}"#
        #expect(
            reply.text.hasPrefix(
                #"{"accountId":"a1","families":[{"familyId":"f1","state":"active","bundleId":"b","environment":"production","#
                    + #""deviceLabel":"Apple TV","createdAt":5,"lastUsedAt":null,"revokedAt":null,"reason":null,"devices":[\#(device)]}]"#))
        #expect(reply.text.hasSuffix(#""state":"active","authorizedAt":0,"mailAllowed":true}]}"#))
        guard case .device(let call) = gateway.autoSignIn.getOptInStatus.requests.first?.caller?.who else {
            Issue.record("the device calls")
            return
        }
        #expect(call.deviceID == "dev-7f3a")
    }

    @Test(arguments: ["{}", #"{"value":"v","familyId":"f"}"#])
    func revokingTakesExactlyOneName(body: String) async throws {
        let reply = try await gateway.post("tokens/revoke", json: body)
        #expect(reply.status == 400 && reply.json["message"] as? String == "Exactly one of 'value' and 'familyId' must be present")
        #expect(gateway.autoSignIn.revokeToken.requests.isEmpty)
    }

    @Test func revokingTellsWhen() async throws {
        gateway.autoSignIn.revokeToken.answer(with: Revocation(revokedAtMilliseconds: 9))
        let reply = try await gateway.post("tokens/revoke", json: #"{"familyId":"f","reason":"opt_out"}"#)
        #expect(reply.status == 200 && reply.text == #"{"revokedAt":9}"#)
        #expect(gateway.autoSignIn.revokeToken.requests.first?.reason == "opt_out")
    }

    @Test func theWebLinkIsAnAddressOfThisGateway() async throws {
        gateway.autoSignIn.createWebLink.answer(with: WebLink(handle: "h/1", expiresInSeconds: 300))
        let reply = try await gateway.post("web-link", json: "", TestGateway.app.with(.idempotencyKey, nil))
        #expect(reply.status == 201 && reply.text == #"{"url":"https://tv.example/devices/open/h%2F1","expiresIn":300}"#)
    }

    @Test func backendsCallWithoutADevice() async throws {
        gateway.autoSignIn.rotateToken.answer(with: Rotation(newVersion: 2, appleState: .queued))
        let rotation = try await gateway.post("tokens/f1/rotate", json: "", TestGateway.backend)
        #expect(rotation.status == 200 && rotation.text == #"{"newVersion":2,"appleState":"queued"}"#)
        #expect(gateway.autoSignIn.rotateToken.requests.first?.call == BackendCall(accessToken: "good", requestor: "ACME1"))
        gateway.autoSignIn.revokeAll.answer(with: RevokedFamilies(familyIDs: ["f1", "f2"], endedSessions: 3))
        let body = #"{"reason":"password_change","keepSessionId":"s1"}"#
        let all = try await gateway.post("accounts/a1/revoke", json: body, TestGateway.backend)
        #expect(all.text == #"{"count":2,"families":["f1","f2"],"endedSessions":3}"#)
        let request = try #require(gateway.autoSignIn.revokeAll.requests.first)
        #expect(request.accountID == "a1" && request.keepSessionID == "s1" && request.reason == "password_change")
    }

    @Test func aSignInIsFlaggedByABackendOrByADeviceThatNamesItself() async throws {
        gateway.autoSignIn.flagSignIn.answer(with: RevokedFamilies(familyIDs: ["f1"]))
        #expect(try await gateway.post("sessions/s1/flag", json: "", TestGateway.backend).status == 200)
        #expect(try await gateway.post("sessions/s1/flag", json: "").status == 200)
        let callers = gateway.autoSignIn.flagSignIn.requests.map(\.caller?.who)
        guard case .backend = callers[0], case .device(let call) = callers[1] else {
            Issue.record("one of each")
            return
        }
        #expect(call.deviceID == "dev-7f3a" && gateway.autoSignIn.flagSignIn.requests.allSatisfy { $0.sessionID == "s1" })
    }

    @Test func anUnknownFamilyIs404() async throws {
        gateway.autoSignIn.revokeToken.fail(with: Fault(.familyUnknown, "x"))
        #expect(try await gateway.post("tokens/revoke", json: #"{"familyId":"f"}"#).status == 404)
    }
}
