import Clocks
import Contracts
import Faults
import Testing

@testable import AutoSignInService

@Suite("Notifications of Apple's", .everyEngine)
struct AppleNotificationTests {
    @Test("apple #59: consent-revoked works as an object and as a string, in seconds and milliseconds", arguments: [true, false], [true, false])
    func revokesConsent(asString: Bool, milliseconds: Bool) async throws {
        let rig = try AppleRig()
        let signedIn = try await rig.enter()
        #expect(try await rig.notify("consent-revoked", asString: asString, milliseconds: milliseconds).hadEffect)
        #expect(try await rig.session(signedIn.sessionID) == nil)
        #expect(try await rig.grants(of: signedIn.accountID).isEmpty)
        #expect(try await rig.links(of: signedIn.accountID).first?.isRevoked == true)
        // A new authorization restores access.
        rig.clock.advance(by: .seconds(5))
        #expect(try await rig.enter().accountID == signedIn.accountID)
        #expect(try await rig.links(of: signedIn.accountID).first?.isRevoked == false)
    }

    @Test("apple #59: a notification that comes twice has its effect once")
    func ignoresDuplicates() async throws {
        let rig = try AppleRig()
        let signedIn = try await rig.enter()
        #expect(try await rig.notify("email-disabled", jti: "n1").hadEffect)
        #expect(try await rig.notify("email-enabled", jti: "n2").hadEffect)
        #expect(try await !rig.notify("email-disabled", jti: "n1").hadEffect)
        #expect(try await rig.links(of: signedIn.accountID).first?.mail.isAllowed == true)
    }

    @Test("apple #60: account-deleted ends everything, and an account without another way in", arguments: ["account-deleted", "account-delete"])
    func deletesAccount(type: String) async throws {
        let rig = try AppleRig()
        let alone = try await rig.enter("alone") { $0.with("email", nil) }
        #expect(try await rig.notify(type, subject: "alone").hadEffect)
        #expect(try await rig.session(alone.sessionID) == nil)
        #expect(try await rig.account(alone.accountID) == nil, "nothing of the person stays")
        rig.logins.signIn("tv-2")
        let linked = try await rig.link(rig.approve("viewer", device: "tv-2"), device: "tv-2")
        let other = try await rig.enter("viewer", device: "tv-3", client: AppleRig.radio)
        #expect(try await rig.notify(type, subject: "viewer").hadEffect)
        #expect(try await rig.session(other.sessionID) == nil)
        #expect(try #require(try await rig.account(linked.accountID)).closedAt == nil)
        #expect(try await rig.links(of: linked.accountID).first?.mail.isAllowed == false)
    }

    @Test("apple #61: a bad signature, foreign claims and what is no notification are refused and change nothing")
    func refusesForgeries() async throws {
        let rig = try AppleRig()
        let signedIn = try await rig.enter()
        let now = rig.clock.now().seconds
        let wrong: [[String: String?]] = [
            ["aud": "\"example.other\""], ["aud": nil], ["iss": "\"https://example.org\""], ["jti": nil], ["jti": "\"\""], ["iat": nil],
            ["iat": "\(now + 61)"], ["iat": "\(now - 31 * 86_400)"], ["exp": "\(now)"], ["exp": "\"soon\""], ["events": nil], ["events": "[]"],
            ["events": "\"{}\""], ["events": "{\"type\":\"consent-revoked\"}"],
            ["events": "{\"type\":\"consent-revoked\",\"type\":\"x\",\"sub\":\"\(TokenMaker.subject)\",\"event_time\":\(now)}"],
        ]
        for claims in wrong {
            #expect(await refusal { try await rig.notify("consent-revoked", claims: claims) } == .appleNotificationInvalid, "\(claims)")
        }
        #expect(await refusal { try await rig.notify("consent-revoked", key: TokenMaker.keys[1]) } == .appleNotificationInvalid)
        for payload in ["", "a.b.c", try await rig.approve().token] {
            let message = AppleNotification(payload: payload)
            #expect(
                await refusal { try await rig.service.signInWithApple.receiveNotification(message, context: rig.context) }
                    == .appleNotificationInvalid)
        }
        #expect(try await rig.session(signedIn.sessionID) != nil)
        #expect(try await rig.links(of: signedIn.accountID).first?.isRevoked == false)
        let events = try await rig.service.operations.listSecurityEvents(ListSecurityEventsRequest(), context: rig.context).events
        #expect(events.isEmpty, "nothing of a sender whom nobody knows is kept")
    }

    @Test("apple §2.9: Apple's clock may be a minute ahead, and no more")
    func toleratesClocks() async throws {
        let rig = try AppleRig()
        try await rig.enter()
        let now = rig.clock.now().seconds
        #expect(await refusal { try await rig.notify("email-disabled", claims: ["iat": "\(now + 61)"]) } == .appleNotificationInvalid)
        #expect(try await rig.notify("email-disabled", claims: ["iat": "\(now + 60)"]).hadEffect)
    }

    @Test("apple #62: a consent-revoked from before a new authorization is ignored")
    func ignoresOldEvents() async throws {
        let rig = try AppleRig()
        let before = rig.clock.now()
        rig.clock.advance(by: .seconds(60))
        let signedIn = try await rig.enter()
        #expect(try await !rig.notify("consent-revoked", at: before).hadEffect)
        #expect(try await !rig.notify("account-deleted", at: before, milliseconds: false).hadEffect)
        #expect(try await rig.session(signedIn.sessionID) != nil)
    }

    @Test("apple #63: mail is blocked and allowed, in the order in which it happened")
    func followsMail() async throws {
        let rig = try AppleRig()
        let signedIn = try await rig.enter()
        let start = rig.clock.now()
        #expect(try await rig.notify("email-disabled").hadEffect)
        #expect(try await rig.links(of: signedIn.accountID).first?.mail.isAllowed == false)
        rig.clock.advance(by: .seconds(60))
        #expect(try await rig.notify("email-enabled").hadEffect)
        #expect(try await rig.links(of: signedIn.accountID).first?.mail.isAllowed == true)
        #expect(try await !rig.notify("email-disabled", at: start + .seconds(30)).hadEffect)
        #expect(try await rig.links(of: signedIn.accountID).first?.mail.isAllowed == true)
    }

    @Test("apple #83: consent-revoked is for the group that its aud belongs to")
    func keepsOtherGroup() async throws {
        let rig = try AppleRig()
        let tv = try await rig.enter(device: "tv-1")
        let sports = try await rig.enter(device: "tv-2", client: AppleRig.sports)
        let radio = try await rig.enter(device: "tv-3", client: AppleRig.radio)
        #expect(try await rig.notify("consent-revoked", audience: AppleRig.tv).hadEffect)
        #expect(try await rig.session(tv.sessionID) == nil)
        #expect(try await rig.session(sports.sessionID) == nil)
        #expect(try await rig.session(radio.sessionID) != nil)
        #expect(try await rig.grants(of: tv.accountID).map(\.client.text) == [AppleRig.radio])
        #expect(try await rig.links(of: tv.accountID).first?.isRevoked == false)
    }

    @Test("apple #59: a session whose consent ended is kept from the account at once, before authentication has ended it")
    func endsReachAtOnce() async throws {
        let rig = try AppleRig()
        rig.logins.signIn("tv-1")
        _ = try await rig.link(rig.approve())
        let signedIn = try await rig.enter(device: "tv-2")
        let status = GetOptInStatusRequest(caller: Caller(who: .device(rig.call("tv-2"))))
        #expect(try await rig.service.automaticSignIn.getOptInStatus(status, context: rig.context).accountID == signedIn.accountID)
        #expect(try await rig.notify("consent-revoked").hadEffect)
        #expect(rig.logins.session("tv-2")?.id == signedIn.sessionID, "authentication has heard nothing yet")
        #expect(await refusal { try await rig.service.automaticSignIn.getOptInStatus(status, context: rig.context) } == .stepUpRequired)
    }

    @Test("apple §2.9: consent-revoked takes the families of the devices that came in by the link, and no others")
    func revokesFamilies() async throws {
        let rig = try AppleRig()
        try await rig.enter()
        rig.logins.signIn("tv-1", user: "ada")
        rig.logins.signIn("tv-2", user: "ada")
        var families: [FamilyID] = []
        for device in ["tv-1", "tv-2"] {
            let issued = try await rig.service.automaticSignIn.issueToken(
                IssueTokenRequest(
                    call: rig.call(device), bundleID: AppleRig.tv, environment: .production, contextAuthorization: .granted), context: rig.context)
            families.append(FamilyID(issued.familyID))
        }
        #expect(try await rig.notify("consent-revoked").hadEffect)
        let states = try await rig.files.read { [families] database in try families.map { try database.family($0)?.state } }
        #expect(states == [.revoked, .pending])
    }

    @Test("an unknown type, and an unknown person, are accepted without effect")
    func toleratesUnknown() async throws {
        let rig = try AppleRig()
        try await rig.enter()
        #expect(try await !rig.notify("weather-changed").hadEffect)
        #expect(try await !rig.notify("consent-revoked", subject: "nobody").hadEffect)
    }

    @Test("while Apple's keys cannot be had, nothing is said of the notification")
    func waitsForKeys() async throws {
        let rig = try AppleRig()
        rig.apple.setAway(true)
        #expect(await refusal { try await rig.notify("consent-revoked") } == .appleUnavailable)
    }
}
