import Clocks
import Contracts
import Faults
import Identifiers
import PairedTimes
import Testing

@testable import AutoSignInService

@Suite("Redeeming tokens", .everyEngine)
struct RedeemTests {
    @Test("apple #5: a second device gets a session with exactly the four streaming scopes, by one call to authentication")
    func redeems() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        let before = rig.logins.calls.count
        let redeemed = try await rig.redeem(token.value)
        #expect(rig.logins.calls.dropFirst(before) == ["startAutomaticSession"])
        let session = try #require(redeemed.session)
        #expect(session.scopes == ["stream:play", "stream:progress", "watchlist:read", "watchlist:write"])
        #expect(session.context == .auto && session.accountID == token.accountID && !redeemed.rotateSoon)
        #expect(session.tv?.session?.kind == .automatic && session.id == session.tv?.session?.id)
        #expect(redeemed.familyID == token.familyID)
    }

    @Test("apple #6: that session may not do anything with the account")
    func needsStepUp() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        let session = try #require(try await rig.redeem(token.value).session)
        #expect(await refusal { try await rig.status("tv-2") } == .stepUpRequired)
        let caller = Caller(who: .device(rig.call("tv-2")))
        let service = rig.service.automaticSignIn
        #expect(await refusal { try await service.revokeAll(RevokeAllRequest(caller: caller), context: rig.context) } == .stepUpRequired)
        #expect(
            await refusal { try await service.flagSignIn(FlagSignInRequest(caller: caller, sessionID: session.id), context: rig.context) }
                == .stepUpRequired)
        #expect(
            await refusal { try await service.createWebLink(CreateWebLinkRequest(call: rig.call("tv-2")), context: rig.context) }
                == .stepUpRequired)
        #expect(await refusal { try await rig.confirm(token.familyID, .failed, device: "tv-2") } == .stepUpRequired)
        #expect(try await rig.state(token.familyID) == .active)
    }

    @Test("apple #7: three devices at once get three sessions")
    func redeemsAtOnce() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        let sessions = try await withThrowingTaskGroup(of: RedeemedToken.self) { group in
            for device in ["a", "b", "c"] { group.addTask { try await rig.redeem(token.value, on: device) } }
            return try await group.reduce(into: Set()) { $0.insert($1.session?.id ?? "") }
        }
        #expect(sessions.count == 3)
        #expect(try await rig.state(token.familyID) == .active)
        #expect(try await rig.status().families.first?.devices.count == 3)
    }

    @Test("A device that redeems again keeps its session, and nothing is written")
    func redeemsAgain() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        let first = try await rig.redeem(token.value)
        rig.clock.advance(by: .seconds(60))
        #expect(try await rig.redeem(token.value, key: "again") == first)
        let rows = try await rig.files.read { try $0.value("SELECT count(*) FROM redemption") as Int? }
        #expect(rows == 1)
        #expect(try await rig.status().families.first?.devices.count == 1)
        #expect(await refusal { try await rig.redeem(token.value, bundleID: "tv.acme", key: "again") } == nil)
    }

    @Test("apple #8: a wrong secret and an unknown id get the same answer")
    func wrongIsUnknown() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        let id = try #require(TokenValue(token.value)?.id)
        let stranger = TokenValue.random(from: SystemRandom())
        let wrong = "asi1.\(id).\(stranger.secret.text)"
        var faults: [Fault] = []
        for value in [wrong, stranger.text, "asi1.short", ""] {
            do { try await rig.redeem(value) } catch { faults.append(try #require(error as? Fault)) }
        }
        #expect(Set(faults.map(\.description)).count == 1 && faults.map(\.code) == Array(repeating: .tokenInvalid, count: 4))
    }

    @Test("apple #8: a wrong secret and an unknown id take the same time", .tags(.timing))
    func wrongTakesAsLongAsUnknown() async throws {
        // Elsewhere nothing is in memory, and both are one look into the store.
        guard StoreEngineCase.current == .sqlite else { return }
        let rig = try TokenRig()
        let id = try #require(TokenValue(try await rig.optIn().value)?.id)
        let times = await PairedTimes.measure(pairs: 400) {
            _ = await refusal { try await rig.redeem("asi1.\(id).\(TokenValue.random(from: SystemRandom()).secret.text)") }
        } _: {
            _ = await refusal { try await rig.redeem(TokenValue.random(from: SystemRandom()).text) }
        }
        #expect(times.gap < 0.1, "\(times)")
    }

    @Test("times of pairs tell a tenth more from noise")
    func pairsTellATenth() {
        let noise = (0..<400).map { Duration.microseconds(1000 + ($0 * 7919) % 400) }
        let other = (0..<400).map { Duration.microseconds(1000 + ($0 * 104_729 + 211) % 400) }
        #expect(PairedTimes(noise, other).gap < 0.05)
        #expect(PairedTimes(noise, other.map { $0 + .microseconds(160) }).gap > 0.1)
    }

    @Test("apple #9, #74: without a live login the token stays; a new login on any device brings it back")
    func needsSubscription() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        rig.logins.signOut("tv-1")
        #expect(await refusal { try await rig.redeem(token.value) } == .subscriptionRequired)
        #expect(try await rig.state(token.familyID) == .active)
        rig.logins.signIn("phone")
        #expect(try await rig.redeem(token.value).session?.accountID == token.accountID)
    }

    @Test("apple #10: a locked account refuses every sign-in until it is unlocked")
    func lockedAccount() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        try await rig.redeem(token.value)
        let operations = rig.service.operations
        _ = try await operations.setAccountLock(SetAccountLockRequest(accountID: token.accountID, isLocked: true), context: rig.context)
        #expect(await refusal { try await rig.redeem(token.value) } == .accountLocked)
        #expect(await refusal { try await rig.issue() } == .accountLocked)
        _ = try await operations.setAccountLock(SetAccountLockRequest(accountID: token.accountID), context: rig.context)
        #expect(await refusal { try await rig.redeem(token.value) } == nil)
        #expect(try await rig.events() == ["account_unlocked", "account_locked"])
        let unknown = try await operations.setAccountLock(SetAccountLockRequest(accountID: "none", isLocked: true), context: rig.context)
        #expect(!unknown.wasKnown)
    }

    @Test("apple #11: a sandbox value does not redeem in production, nor one of another app or programmer")
    func checksPlace() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn(environment: .sandbox)
        #expect(await refusal { try await rig.redeem(token.value) } == .environmentMismatch)
        #expect(await refusal { try await rig.redeem(token.value, environment: .sandbox, bundleID: "tv.acme.sports") } == .environmentMismatch)
        #expect(await refusal { try await rig.redeem(token.value, requestor: "BRAVO", environment: .sandbox) } == .tokenInvalid)
        #expect(await refusal { try await rig.redeem(token.value, environment: .sandbox) } == nil)
    }

    @Test("apple #33: the eleventh redeem of an address within a minute is refused; others go on")
    func limitsAddresses() async throws {
        let rig = try TokenRig(redeemsPerMinute: 10)
        let token = try await rig.optIn()
        for device in 0..<10 { try await rig.redeem(token.value, on: "d\(device)") }
        do {
            try await rig.redeem(token.value)
            Issue.record("the eleventh redeem was let in")
        } catch {
            let fault = try #require(error as? Fault)
            #expect(fault.code == .rateLimited && (fault.retryAfter ?? .zero) > .zero)
        }
        try await rig.redeem(token.value, address: "203.0.113.8")
        rig.clock.advance(by: .seconds(120))
        #expect(await refusal { try await rig.redeem(token.value) } == nil)
    }

    @Test("apple #68: the first redeem stands for a ConfirmStored that never came")
    func firstRedeemConfirms() async throws {
        let rig = try TokenRig()
        rig.logins.signIn("tv-1")
        let token = try await rig.issue()
        try await rig.redeem(token.value)
        #expect(try await rig.state(token.familyID) == .active)
    }

    @Test("apple #71: a sixth wrong secret is one too many, and the right value redeems all the same")
    func limitsFailures() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        let id = try #require(TokenValue(token.value)?.id)
        let (wrong, unknown) = ("asi1.\(id).\(TokenValue.random(from: SystemRandom()).secret.text)", TokenValue.random(from: SystemRandom()).text)
        for value in [wrong, unknown] {
            for _ in 0..<5 { #expect(await refusal { try await rig.redeem(value) } == .tokenInvalid) }
            #expect(await refusal { try await rig.redeem(value) } == .rateLimited)
        }
        #expect(await refusal { try await rig.redeem(token.value) } == nil)
        rig.clock.advance(by: .seconds(2 * 3600))
        #expect(await refusal { try await rig.redeem(wrong) } == .tokenInvalid)
    }

    @Test("apple #77: a logout on one device leaves the others")
    func logoutOfOne() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        for device in ["tv-2", "tv-3"] { try await rig.redeem(token.value, on: device) }
        rig.logins.signOut("tv-2")
        #expect(rig.logins.session("tv-3") != nil)
        #expect(try await rig.state(token.familyID) == .active)
        #expect(await refusal { try await rig.redeem(token.value, on: "tv-2") } == nil)
    }

    @Test("A family that is revoked while its session is being made ends it, whatever authentication says (I1)")
    func revokedMeanwhile() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        rig.logins.whileStarting { try await rig.revoke(token.familyID) }
        #expect(await refusal { try await rig.redeem(token.value) } == .tokenRevoked)
        try await rig.deliver()
        #expect(rig.logins.session("tv-2") == nil)
    }

    @Test("A person who is erased while a session is being made keeps none, though nothing of the family is left (I1)")
    func erasedMeanwhile() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        rig.logins.whileStarting {
            let ada = AccountHolder(logins: [PersonLogin(mvpd: "NorthCable", userID: "ada")])
            _ = try await rig.service.operations.erasePerson(ada, context: rig.context)
            try await rig.deliver()
        }
        #expect(await refusal { try await rig.redeem(token.value) } == .tokenRevoked)
        #expect(try await rig.state(token.familyID) == nil)
        try await rig.deliver()
        #expect(rig.logins.session("tv-2") == nil)
    }

    @Test("What happens to the account while a session is being made counts as well", arguments: [true, false])
    func accountChangesMeanwhile(_ isLocked: Bool) async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        rig.logins.whileStarting {
            let request = SetAccountLockRequest(accountID: token.accountID, isLocked: isLocked)
            _ = try await rig.service.operations.setAccountLock(request, context: rig.context)
        }
        #expect(await refusal { try await rig.redeem(token.value) } == (isLocked ? .accountLocked : nil))
        try await rig.deliver()
        #expect((rig.logins.session("tv-2") == nil) == isLocked)
    }

    @Test("A device that had its session before is refused too when its family is revoked meanwhile")
    func revokedWhileRedeemingAgain() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        try await rig.redeem(token.value)
        rig.logins.whileStarting { try await rig.revoke(token.familyID) }
        #expect(await refusal { try await rig.redeem(token.value) } == .tokenRevoked)
        try await rig.deliver()
        #expect(rig.logins.session("tv-2") == nil)
    }

    @Test("Redeems and a revocation at once: afterwards no session of the family is left (I1)")
    func redeemVersusRevoke() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        await withTaskGroup(of: Void.self) { group in
            for device in 0..<40 {
                group.addTask { _ = await refusal { try await rig.redeem(token.value, on: "d\(device)") } }
                if device == 20 { group.addTask { _ = await refusal { try await rig.revoke(token.familyID) } } }
            }
        }
        try await rig.deliver()
        #expect(try await rig.state(token.familyID) == .revoked)
        #expect((0..<40).allSatisfy { rig.logins.session("d\($0)") == nil })
        #expect(try await rig.status().families.first?.devices.isEmpty == true)
    }

    @Test("A session whose commit fails, or whose key was used for another value, is ended again")
    func undoesSession() async throws {
        let rig = try TokenRig()
        let (first, second) = (try await rig.optIn("tv-1"), try await rig.optIn("phone"))
        try await rig.redeem(first.value, on: "tv-2", key: "key")
        #expect(await refusal { try await rig.redeem(second.value, on: "tv-2", key: "key") } == .idempotencyKeyReused)
        #expect(rig.logins.session("tv-2") != nil, "it is the first value's")
        try await rig.files.refuseInserts(into: "streaming_session")
        #expect(await refusal { try await rig.redeem(first.value, on: "tv-3") } == .internal)
        #expect(rig.logins.session("tv-3") == nil)
        try await rig.files.acceptInserts(into: "streaming_session")
        try await rig.redeem(first.value, on: "tv-3")
    }

    @Test("The key of a redeem that had nothing to write is used up too, for a day")
    func remembersKeysOfRepeatedRedeems() async throws {
        let rig = try TokenRig()
        let (first, second) = (try await rig.optIn("tv-1"), try await rig.optIn("phone"))
        let session = try await rig.redeem(first.value, on: "tv-2").session?.id
        for _ in 0..<2 { #expect(try await rig.redeem(first.value, on: "tv-2", key: "key").session?.id == session) }
        func reused() async -> Fault.Code? { await refusal { try await rig.redeem(second.value, on: "tv-2", key: "key") } }
        #expect(await reused() == .idempotencyKeyReused)
        rig.clock.advance(by: .seconds(86_400) - .milliseconds(1))
        #expect(await reused() == .idempotencyKeyReused)
        rig.clock.advance(by: .milliseconds(1))
        #expect(await reused() == nil)
    }

    @Test("apple #34: a redeem that is sent again from another address is the same one")
    func repeatsFromElsewhere() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        let first = try await rig.redeem(token.value, address: "203.0.113.7", key: "key")
        #expect(try await rig.redeem(token.value, address: "198.51.100.20", key: "key") == first)
    }

    @Test(
        "After a commit that broke off memory counts for nothing: it may be in the store all the same",
        arguments: [Fault.Code.unavailable, .internal, .storageFull])
    func readsAnewAfterBrokenCommit(_ code: Fault.Code) async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        for _ in 0..<2 { try await rig.redeem(token.value) }
        // As the commit would have left it, without its end.
        try await rig.files.write { try $0.run("UPDATE account SET is_locked = 1 WHERE id = ?", [token.accountID]) }
        #expect(await refusal { try await rig.store.change { _, _ -> Int in throw Fault(code, "The answer was lost.") } } == code)
        #expect(await refusal { try await rig.redeem(token.value) } == .accountLocked)
    }

    @Test("A dependency that is away is not a wrong token (I10 is about Apple only)")
    func passesFaults() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        rig.logins.fail(with: Fault(.unavailable, "Away."))
        #expect(await refusal { try await rig.redeem(token.value) } == .unavailable)
        rig.logins.fail(with: nil)
        #expect(await refusal { try await rig.redeem(token.value, client: "") } == .accessDenied)
        #expect(await refusal { try await rig.redeem(TokenValue.random(from: SystemRandom()).text, client: "") } == .accessDenied)
    }
}
