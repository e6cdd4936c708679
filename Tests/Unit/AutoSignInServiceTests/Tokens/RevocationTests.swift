import Clocks
import Contracts
import Faults
import Testing

@testable import AutoSignInService

@Suite("Revoking tokens", .everyEngine)
struct RevocationTests {
    @Test("apple #12: after an opt-out on the web no device redeems, and Apple gets one Delete")
    func optsOutOnTheWeb() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        try await rig.redeem(token.value)
        let service = rig.service.automaticSignIn
        let link = try await service.createWebLink(CreateWebLinkRequest(call: rig.call()), context: rig.context)
        let web = try await service.openWebLink(OpenWebLinkRequest(handle: link.handle), context: rig.context)
        #expect(web.requestor == "ACME1")
        #expect(await refusal { try await service.openWebLink(OpenWebLinkRequest(handle: link.handle), context: rig.context) } == .stateInvalid)
        let caller = Caller(who: .webSession(web.secret))
        let status = try await service.getOptInStatus(GetOptInStatusRequest(caller: caller), context: rig.context)
        #expect(status.families.first?.devices.map(\.label) == ["Apple TV"] && status.accountID == token.accountID)
        _ = try await service.revokeToken(RevokeTokenRequest(caller: caller, familyID: token.familyID), context: rig.context)
        for device in ["tv-1", "tv-2", "tv-3"] { #expect(await refusal { try await rig.redeem(token.value, on: device) } == .tokenRevoked) }
        try await rig.deliver()
        #expect(rig.apple.count("delete") == 1 && rig.apple.values().isEmpty)
        #expect(rig.logins.session("tv-2") == nil && rig.logins.session("tv-1") != nil)
        _ = try await service.endWebSession(EndWebSessionRequest(webSession: web.secret), context: rig.context)
        #expect(
            await refusal { try await service.getOptInStatus(GetOptInStatusRequest(caller: caller), context: rig.context) }
                == .authenticationSessionMissing)
    }

    @Test("apple #12: a link to the web is good for five minutes")
    func linksEnd() async throws {
        let rig = try TokenRig()
        _ = try await rig.optIn()
        let service = rig.service.automaticSignIn
        func open(after wait: Duration) async throws -> Fault.Code? {
            let link = try await service.createWebLink(CreateWebLinkRequest(call: rig.call()), context: rig.context)
            #expect(link.expiresInSeconds == 300)
            rig.clock.advance(by: wait)
            return await refusal { try await service.openWebLink(OpenWebLinkRequest(handle: link.handle), context: rig.context) }
        }
        #expect(try await open(after: .seconds(300) - .milliseconds(1)) == nil)
        #expect(try await open(after: .seconds(300)) == .stateInvalid)
    }

    @Test("apple #13: an opt-out counts at once while Apple is down, and Apple hears of it later")
    func appleIsDown() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        rig.apple.always(.unreachable)
        try await rig.revoke(value: token.value)
        #expect(await refusal { try await rig.redeem(token.value) } == .tokenRevoked)
        try await rig.deliver()
        #expect(rig.apple.values() == [token.value])
        rig.apple.always(nil)
        rig.clock.advance(by: .seconds(1))
        try await rig.deliver()
        #expect(rig.apple.values().isEmpty && rig.apple.count("delete", status: 204) == 1)
    }

    @Test("apple #14, #15: signing out everywhere revokes all families and ends all automatic sessions but the one to keep")
    func signsOutEverywhere() async throws {
        let rig = try TokenRig()
        let (first, second) = (try await rig.optIn("tv-1"), try await rig.optIn("phone"))
        let kept = try #require(try await rig.redeem(first.value, on: "tv-2").session)
        try await rig.redeem(second.value, on: "tv-3")
        #expect(try await rig.state(first.familyID) == .active, "a password change that nobody reports changes nothing")
        let answer = try await rig.service.automaticSignIn.revokeAll(
            RevokeAllRequest(caller: rig.backend(), accountID: first.accountID, reason: "password change", keepSessionID: kept.id),
            context: rig.context)
        #expect(Set(answer.familyIDs) == [first.familyID, second.familyID] && answer.endedSessions == 1)
        try await rig.deliver()
        #expect(rig.logins.session("tv-2") != nil && rig.logins.session("tv-3") == nil && rig.logins.session("tv-1")?.kind == .regular)
        let again = try await rig.service.automaticSignIn.revokeAll(
            RevokeAllRequest(caller: Caller(who: .device(rig.call()))), context: rig.context)
        #expect(again.familyIDs.isEmpty && again.endedSessions == 1)
        try await rig.deliver()
        #expect(rig.logins.session("tv-2") == nil && rig.apple.values().isEmpty)
        #expect(rig.log.lines.filter { $0.hasPrefix("info family_revoked ") }.count == 2, "an operator finds both")
    }

    @Test("apple #16: a flagged sign-in ends its family; others stay")
    func flagsSignIn() async throws {
        let rig = try TokenRig()
        let (first, second) = (try await rig.optIn("tv-1"), try await rig.optIn("phone"))
        let session = try #require(try await rig.redeem(first.value, on: "tv-2").session)
        let answer = try await rig.service.automaticSignIn.flagSignIn(
            FlagSignInRequest(caller: rig.backend(), sessionID: session.id), context: rig.context)
        #expect(answer.familyIDs == [first.familyID] && answer.endedSessions == 1)
        try await rig.deliver()
        #expect(rig.logins.session("tv-2") == nil)
        #expect(try await rig.state(second.familyID) == .active)
        #expect(try await rig.events() == ["sign_in_flagged"])
    }

    @Test("apple #86: ids of another account are unknown, and nothing changes")
    func reachesOwnOnly() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        let session = try #require(try await rig.redeem(token.value).session)
        rig.logins.signIn("other", user: "ben")
        let service = rig.service.automaticSignIn
        #expect(await refusal { try await rig.revoke(token.familyID, from: "other") } == .familyUnknown)
        #expect(await refusal { try await rig.revoke(value: token.value, from: "other") } == .familyUnknown)
        #expect(await refusal { try await rig.revoke("none", from: "tv-1") } == .familyUnknown)
        #expect(await refusal { try await rig.revoke(token.familyID, from: "signed-out") } == .authenticationSessionMissing)
        for caller in [Caller(who: .device(rig.call("other"))), rig.backend("bravo")] {
            #expect(
                await refusal { try await service.flagSignIn(FlagSignInRequest(caller: caller, sessionID: session.id), context: rig.context) }
                    == .sessionUnknown)
            #expect(
                await refusal {
                    try await service.revokeAll(RevokeAllRequest(caller: caller, accountID: token.accountID), context: rig.context)
                } == .familyUnknown)
        }
        #expect(try await rig.state(token.familyID) == .active)
        #expect(rig.logins.session("tv-2") != nil)
    }

    @Test("apple #86: with acr=auto a device revokes its own family and no other")
    func revokesOwnFamily() async throws {
        let rig = try TokenRig()
        let (first, second) = (try await rig.optIn("tv-1"), try await rig.optIn("phone"))
        try await rig.redeem(first.value)
        #expect(await refusal { try await rig.status("tv-2") } == .stepUpRequired)
        #expect(await refusal { try await rig.revoke(second.familyID, from: "tv-2") } == .stepUpRequired)
        let (service, caller) = (rig.service.automaticSignIn, Caller(who: .device(rig.call("tv-2"))))
        let session = try #require(rig.logins.session("tv-2")?.id)
        #expect(await refusal { try await service.revokeAll(RevokeAllRequest(caller: caller), context: rig.context) } == .stepUpRequired)
        #expect(
            await refusal { try await service.flagSignIn(FlagSignInRequest(caller: caller, sessionID: session), context: rig.context) }
                == .stepUpRequired)
        #expect(try await rig.state(first.familyID) == .active)
        try await rig.revoke(first.familyID, from: "tv-2")
        #expect(try await rig.state(first.familyID) == .revoked)
        #expect(try await rig.state(second.familyID) == .active)
    }

    @Test("An unused family ends: a pending one after 30 days, another 180 days after its last use")
    func endsIdleFamilies() async throws {
        let rig = try TokenRig()
        let used = try await rig.optIn("tv-1")
        rig.logins.signIn("phone")
        let pending = try await rig.issue("phone")
        rig.clock.advance(by: .seconds(30 * 86_400))
        try await rig.service.housekeeping.round()
        #expect(try await rig.state(pending.familyID) == .revoked)
        try await rig.deliver()
        #expect(rig.apple.count("delete") == 1)
        try await rig.redeem(used.value)
        rig.clock.advance(by: .seconds(180 * 86_400 - 1))
        try await rig.service.housekeeping.round()
        #expect(try await rig.state(used.familyID) == .active)
        rig.clock.advance(by: .seconds(1))
        #expect(await refusal { try await rig.redeem(used.value) } == .tokenRevoked)
        try await rig.service.housekeeping.round()
        #expect(try await rig.state(used.familyID) == .revoked)
    }

    @Test("Unused families end by themselves, until the service stops")
    func endsIdleFamiliesByItself() async throws {
        let rig = try TokenRig()
        rig.logins.signIn("tv-1")
        let pending = try await rig.issue()
        rig.clock.advance(by: .seconds(30 * 86_400))
        let work = Task { await rig.service.keepHouse() }
        for _ in 0..<3000 where try await rig.state(pending.familyID) != .revoked { try await Task.sleep(for: .milliseconds(10)) }
        #expect(try await rig.state(pending.familyID) == .revoked)
        work.cancel()
        await work.value
    }

    @Test("A session that is unused for 30 days ends")
    func endsIdleSessions() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        try await rig.redeem(token.value)
        rig.clock.advance(by: .seconds(30 * 86_400))
        try await rig.service.housekeeping.round()
        try await rig.deliver()
        #expect(rig.logins.session("tv-2") == nil)
    }

    @Test("Closing an account ends and forgets everything of it, also while Apple is away")
    func closesAccount() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        try await rig.redeem(token.value)
        let service = rig.service.automaticSignIn
        let link = try await service.createWebLink(CreateWebLinkRequest(call: rig.call()), context: rig.context)
        let web = Caller(who: .webSession(try await service.openWebLink(OpenWebLinkRequest(handle: link.handle), context: rig.context).secret))
        _ = try await service.getOptInStatus(GetOptInStatusRequest(caller: web), context: rig.context)
        let unopened = try await service.createWebLink(CreateWebLinkRequest(call: rig.call()), context: rig.context)
        rig.apple.always(.unreachable)
        let operations = rig.service.operations
        #expect(try await operations.closeAccount(CloseAccountRequest(accountID: token.accountID), context: rig.context).wasKnown)
        #expect(rig.log.lines.filter { $0.hasPrefix("warning security_event ") && $0.contains("kind=account_closed") }.count == 1)
        #expect(try await operations.closeAccount(CloseAccountRequest(accountID: token.accountID), context: rig.context).wasKnown)
        #expect(try await !operations.closeAccount(CloseAccountRequest(accountID: "none"), context: rig.context).wasKnown)
        #expect(await refusal { try await rig.redeem(token.value) } == .tokenRevoked)
        #expect(
            await refusal { try await service.getOptInStatus(GetOptInStatusRequest(caller: web), context: rig.context) }
                == .authenticationSessionMissing)
        let opening = OpenWebLinkRequest(handle: unopened.handle)
        #expect(await refusal { try await service.openWebLink(opening, context: rig.context) } == .stateInvalid)
        try await rig.deliver()
        #expect(rig.logins.session("tv-2") == nil)
        #expect(try await rig.issue().accountID != token.accountID, "whoever comes back is a new person")
        rig.apple.always(nil)
        rig.clock.advance(by: .seconds(1))
        try await rig.deliver()
        #expect(!rig.apple.values().contains(token.value))
        #expect(try await rig.events().contains("account_closed"))
    }
}
