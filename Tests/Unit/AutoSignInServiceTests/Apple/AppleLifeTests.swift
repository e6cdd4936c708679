import Clocks
import Contracts
import Faults
import Testing

@testable import AutoSignInService

@Suite("Sign in with Apple: checks, ends and moves", .everyEngine)
struct AppleLifeTests {
    private func check(_ rig: AppleRig, _ account: String) async throws -> AppleSessionState {
        let link = try #require(await rig.links(of: account).first)
        return try await rig.service.operations.validateAppleSession(ValidateAppleSessionRequest(linkID: link.id.text), context: rig.context)
    }

    private func refreshes(_ rig: AppleRig) -> Int { rig.apple.calls("/auth/token").filter { $0.form["grant_type"] == "refresh_token" }.count }

    @Test("apple #56: Apple is asked at most once a day, by any caller")
    func checksOncePerDay() async throws {
        let rig = try AppleRig()
        let signedIn = try await rig.enter()
        rig.clock.advance(by: .seconds(25 * 3_600))
        #expect(try await check(rig, signedIn.accountID).verdict == .valid)
        rig.clock.advance(by: .seconds(3_600))
        #expect(try await check(rig, signedIn.accountID).verdict == .recent)
        try await rig.service.appleSessionChecks.round()
        #expect(refreshes(rig) == 1)
        rig.clock.advance(by: .seconds(26 * 3_600))
        try await rig.service.appleSessionChecks.round()
        #expect(refreshes(rig) == 2)
    }

    @Test("the timer asks only for accounts with a live session")
    func sparesSleepers() async throws {
        let rig = try AppleRig()
        try await rig.enter()
        rig.clock.advance(by: .seconds(31 * 86_400))
        try await rig.service.appleSessionChecks.round()
        #expect(refreshes(rig) == 0)
    }

    @Test("apple #57: invalid_grant ends the session, an answer that says nothing keeps it for 72 hours")
    func endsOnInvalidGrant() async throws {
        let rig = try AppleRig()
        let signedIn = try await rig.enter()
        rig.clock.advance(by: .seconds(25 * 3_600))
        rig.apple.then("/auth/token", 503)
        #expect(try await check(rig, signedIn.accountID).verdict == .unclear)
        #expect(try await rig.session(signedIn.sessionID) != nil)
        for _ in 0..<12 {
            rig.clock.advance(by: .seconds(6 * 3_600))
            rig.apple.then("/auth/token", 503)
            _ = try await check(rig, signedIn.accountID)
        }
        #expect(try await rig.session(signedIn.sessionID) == nil)
        let again = try await rig.enter()
        rig.clock.advance(by: .seconds(25 * 3_600))
        rig.apple.invalidateRefreshTokens()
        #expect(try await check(rig, again.accountID).verdict == .ended)
        #expect(try await rig.session(again.sessionID) == nil)
        // Another sign-in is all it takes.
        #expect(try await rig.enter().accountID == signedIn.accountID)
    }

    @Test("apple #58 and #82: a closed account is gone though Apple is away; each token is revoked by its own client id later")
    func closesAccount() async throws {
        let rig = try AppleRig()
        let signedIn = try await rig.enter(user: FirstTimeUser(givenName: "Anna"))
        try await rig.enter(device: "tv-2", client: AppleRig.sports)
        rig.apple.setAway(true)
        let closed = try await rig.service.operations.closeAccount(CloseAccountRequest(accountID: signedIn.accountID), context: rig.context)
        #expect(closed.wasKnown)
        #expect(try await rig.links(of: signedIn.accountID).isEmpty)
        #expect(try await rig.session(signedIn.sessionID) == nil)
        #expect(try await rig.account(signedIn.accountID)?.profile == AccountProfile())
        try await rig.deliver()
        #expect(rig.apple.refreshTokens.count == 2)
        rig.apple.setAway(false)
        for _ in 0..<4 {
            rig.clock.advance(by: .seconds(1_000))
            try await rig.deliver()
        }
        let calls = rig.apple.calls("/auth/revoke")
        #expect(Set(calls.map { $0.form["client_id"] }) == [AppleRig.tv, AppleRig.sports])
        #expect(calls.allSatisfy { $0.form["token"]?.hasSuffix("of-\($0.form["client_id"] ?? "")") == true })
        #expect(rig.apple.refreshTokens.isEmpty)
        // The person counts as new now.
        #expect(try await rig.enter().isNew)
    }

    @Test("an operator's revocation ends link, sessions and tokens")
    func revokesLink() async throws {
        let rig = try AppleRig()
        let signedIn = try await rig.enter()
        let link = try #require(await rig.links(of: signedIn.accountID).first)
        let revoked = try await rig.service.operations.revokeApple(
            RevokeAppleRequest(linkID: link.id.text, reason: "support"), context: rig.context)
        #expect(revoked.wasKnown)
        #expect(try await rig.links(of: signedIn.accountID).first?.isRevoked == true)
        #expect(try await rig.session(signedIn.sessionID) == nil)
        try await rig.deliver()
        #expect(rig.apple.refreshTokens.isEmpty)
        let unknown = try await rig.service.operations.revokeApple(RevokeAppleRequest(linkID: "none"), context: rig.context)
        #expect(!unknown.wasKnown)
    }

    @Test("apple #64: a moved person is found by the transfer identifier within 60 days")
    func findsMovedPerson() async throws {
        let rig = try AppleRig()
        rig.logins.signIn("tv-1")
        // An account from before the move.
        let old = try await rig.link(rig.approve("old-team-subject"))
        try await rig.unlink()
        let request = ImportTransfersRequest(
            programmerID: "acme", teamID: "ACMETEAM01", acceptedAtMilliseconds: UInt64(rig.clock.now().milliseconds),
            users: [TransferredUser(transferSub: "T.1", accountID: old.accountID), TransferredUser(transferSub: "T.2", accountID: "none")])
        #expect(try await rig.service.operations.importTransfers(request, context: rig.context).imported == 1)
        let moved = try await rig.enter("new-subject", device: "tv-2") { $0.with("transfer_sub", "\"T.1\"") }
        #expect(moved.accountID == old.accountID)
        #expect(!moved.isNew)
        #expect(try await rig.enter("new-subject", device: "tv-3").accountID == old.accountID)
    }

    @Test("apple #64: identifiers are exchanged in both directions, and not after 60 days")
    func exchangesTransfers() async throws {
        let rig = try AppleRig()
        rig.logins.signIn("tv-1")
        let account = try await rig.link(rig.approve("old")).accountID
        try await rig.unlink()
        let sent = try await rig.service.operations.exchangeTransfer(
            ExchangeTransferRequest(teamID: "ACMETEAM01", clientID: AppleRig.tv, sent: SentUser(sub: "old", targetTeamID: "OTHERTEAM1")),
            context: rig.context)
        #expect(sent.transferSub == "T.old.OTHERTEAM1")
        let accepted = rig.clock.now()
        _ = try await rig.service.operations.importTransfers(
            ImportTransfersRequest(
                programmerID: "acme", teamID: "ACMETEAM01", acceptedAtMilliseconds: UInt64(accepted.milliseconds),
                users: [TransferredUser(transferSub: "T.1", accountID: account), TransferredUser(transferSub: "T.3", accountID: account)]),
            context: rig.context)
        rig.apple.transfer("T.1", to: "new")
        let request = ExchangeTransferRequest(teamID: "ACMETEAM01", clientID: AppleRig.tv, transferSub: "T.1")
        #expect(try await rig.service.operations.exchangeTransfer(request, context: rig.context).sub == "new")
        #expect(try await rig.enter("new", device: "tv-2").accountID == account)
        rig.clock.set(accepted + .seconds(60 * 86_400))
        #expect(await refusal { try await rig.service.operations.exchangeTransfer(request, context: rig.context) } == .transferWindowClosed)
    }
}
