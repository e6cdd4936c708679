import Contracts
import Faults
import Testing

@testable import AutoSignInService

@Suite("Sign in with Apple: links, tickets and sessions", .everyEngine)
struct AppleLinkTests {
    @Test("apple #54: the same verified e-mail asks for proof and never merges; with ticket and proof there is one account")
    func asksForProof() async throws {
        let rig = try AppleRig()
        rig.logins.signIn("tv-1")
        let linked = try await rig.link(rig.approve())
        try await rig.unlink()
        let question = try await rig.signIn(rig.approve("second", device: "tv-2"), device: "tv-2", creates: true).question()
        #expect(question.code == "account_exists")
        // Insisting makes no second account.
        #expect(try await rig.signIn(ticket: question.ticket, device: "tv-2").question().code == "account_exists")
        rig.logins.signIn("tv-2")
        let nothing = AppleRig.Signed(token: "", code: "", nonce: "")
        let again = try await rig.link(nothing, device: "tv-2", ticket: question.ticket)
        #expect(again.accountID == linked.accountID)
        #expect(try await rig.accountCount() == 1)
    }

    @Test("a relay address, or one that is not verified, is no sign of the same person")
    func ignoresWeakAddresses() async throws {
        let rig = try AppleRig()
        try await rig.enter()
        let relay = try await rig.signIn(rig.approve("relay") { $0.with("is_private_email", "\"true\"") }).question()
        #expect(relay.code == "confirmation_required")
        let unverified = try await rig.signIn(rig.approve("unverified") { $0.with("email_verified", "\"false\"") }).question()
        #expect(unverified.code == "confirmation_required")
        let same = try await rig.signIn(rig.approve("same") { $0.with("email", "\"ADA@example.org\"") }).question()
        #expect(same.code == "account_exists")
    }

    @Test("apple #80: a ticket stands for one exchange, for one use, by one device")
    func redeemsTicket() async throws {
        let rig = try AppleRig()
        let question = try await rig.signIn(rig.approve(), user: FirstTimeUser(givenName: "Anna")).question()
        #expect(question.code == "confirmation_required")
        #expect(try await rig.accountCount() == 0)
        #expect(await refusal { try await rig.signIn(ticket: question.ticket, device: "tv-2") } == .ticketInvalid)
        let signedIn = try await rig.signIn(ticket: question.ticket).entered()
        #expect(signedIn.isNew)
        #expect(try await rig.account(signedIn.accountID)?.profile.givenName == "Anna")
        #expect(rig.apple.calls("/auth/token").count == 1)
        #expect(await refusal { try await rig.signIn(ticket: question.ticket) } == .ticketInvalid)
        let late = try await rig.signIn(rig.approve("late") { $0.with("email", nil) }).question()
        rig.clock.advance(by: .seconds(600))
        #expect(await refusal { try await rig.signIn(ticket: late.ticket) } == .ticketInvalid)
    }

    @Test("a person at the MVPD links their Apple Account, and another device then gets the TV session")
    func linksTVLogin() async throws {
        let rig = try AppleRig()
        rig.logins.signIn("tv-1")
        let link = try await rig.link(rig.approve())
        #expect(link.state == .active)
        let signedIn = try await rig.enter(device: "tv-2")
        #expect(signedIn.accountID == link.accountID)
        #expect(signedIn.session?.tv?.session?.mvpd == "NorthCable")
        #expect(signedIn.sessionID == rig.logins.session("tv-2")?.id)
        #expect(try await rig.session(signedIn.sessionID)?.hasTVSession == true)
    }

    @Test("without a TV login that serves, the session is one of its own")
    func signsInWithoutTV() async throws {
        let rig = try AppleRig()
        rig.logins.signIn("tv-1")
        _ = try await rig.link(rig.approve())
        rig.logins.signOut("tv-1")
        let signedIn = try await rig.enter(device: "tv-2")
        #expect(try #require(signedIn.session).tv == nil)
        #expect(try await rig.session(signedIn.sessionID)?.hasTVSession == false)
    }

    @Test("a login at the TV provider on a device that came in with Apple joins that account")
    func joinsLogin() async throws {
        let rig = try AppleRig()
        let signedIn = try await rig.enter()
        rig.logins.signIn("tv-1", user: "ada")
        // Any call of the device does it.
        _ = try await rig.nonce()
        #expect(try await rig.account(signedIn.accountID)?.logins.map(\.userID) == ["ada"])
        let other = try await rig.enter(device: "tv-2")
        #expect(other.session?.tv?.session?.userID == "ada")
    }

    @Test("a login that opens another account stays there")
    func leavesForeignLogin() async throws {
        let rig = try AppleRig()
        rig.logins.signIn("tv-1", user: "ada")
        let first = try await rig.link(rig.approve())
        let second = try await rig.enter("other", device: "tv-2") { $0.with("email", nil) }
        rig.logins.signIn("tv-2", user: "ada")
        _ = try await rig.nonce("tv-2")
        #expect(try await rig.account(second.accountID)?.logins.isEmpty == true)
        #expect(try await rig.account(first.accountID)?.logins.count == 1)
    }

    @Test("a person has one account, and an account one person of a team")
    func refusesConflicts() async throws {
        let rig = try AppleRig()
        rig.logins.signIn("tv-1", user: "ada")
        _ = try await rig.link(rig.approve())
        let second = try await rig.approve("other")
        #expect(await refusal { try await rig.link(second) } == .linkConflict)
        rig.logins.signIn("tv-2", user: "ben")
        let taken = try await rig.approve(device: "tv-2")
        #expect(await refusal { try await rig.link(taken, device: "tv-2") } == .linkConflict)
        // The same once more is no conflict.
        _ = try await rig.link(rig.approve())
    }

    @Test("linking needs a person: no session, or one for streaming only, is not enough")
    func requiresPersonForLink() async throws {
        let rig = try AppleRig()
        let signed = try await rig.approve()
        #expect(await refusal { try await rig.link(signed) } == .authenticationSessionMissing)
        rig.logins.signIn("tv-1", kind: .automatic)
        #expect(await refusal { try await rig.link(signed) } == .stepUpRequired)
    }

    @Test("taking a link away needs a person too: no session, or one for streaming only, is not enough")
    func requiresPersonForUnlink() async throws {
        let rig = try AppleRig()
        rig.logins.signIn("tv-1")
        let link = try await rig.link(rig.approve())
        rig.logins.signIn("tv-1", kind: .automatic)
        #expect(await refusal { try await rig.unlink() } == .stepUpRequired)
        rig.logins.signOut("tv-1")
        #expect(await refusal { try await rig.unlink() } == .authenticationSessionMissing)
        #expect(try await rig.links(of: link.accountID).count == 1)
    }

    @Test("the last way in is not taken away")
    func keepsLastMethod() async throws {
        let rig = try AppleRig()
        let signedIn = try await rig.enter()
        #expect(await refusal { try await rig.unlink() } == .lastMethod)
        rig.logins.signIn("tv-1")
        try await rig.unlink()
        #expect(try await rig.links(of: signedIn.accountID).isEmpty)
        #expect(try await rig.session(signedIn.sessionID) == nil)
        try await rig.deliver()
        #expect(rig.apple.calls("/auth/revoke").count == 1)
        #expect(rig.apple.refreshTokens.isEmpty)
        #expect(await refusal { try await rig.unlink() } == .notFound)
    }

    @Test("another account's link cannot be taken away")
    func protectsForeignLink() async throws {
        let rig = try AppleRig()
        let signedIn = try await rig.enter()
        let link = try #require(await rig.links(of: signedIn.accountID).first)
        rig.logins.signIn("tv-2", user: "ben")
        #expect(await refusal { try await rig.unlink(device: "tv-2", link: link.id.text) } == .notFound)
    }

    @Test("a locked account refuses every sign-in")
    func refusesLockedAccount() async throws {
        let rig = try AppleRig()
        let signedIn = try await rig.enter()
        _ = try await rig.service.operations.setAccountLock(
            SetAccountLockRequest(accountID: signedIn.accountID, isLocked: true), context: rig.context)
        let signed = try await rig.approve()
        #expect(await refusal { try await rig.signIn(signed) } == .accountLocked)
    }

    @Test("a TV session whose commit fails is ended again")
    func undoesSession() async throws {
        let rig = try AppleRig()
        rig.logins.signIn("tv-1")
        _ = try await rig.link(rig.approve())
        try await rig.files.refuseInserts(into: "streaming_session")
        let signed = try await rig.approve(device: "tv-2")
        #expect(await refusal { try await rig.signIn(signed, device: "tv-2") } == .internal)
        #expect(rig.logins.ended.count == 1)
        #expect(rig.logins.session("tv-2") == nil)
    }

    @Test("a TV session that the device had before outlives a commit that fails")
    func keepsSession() async throws {
        let rig = try AppleRig()
        rig.logins.signIn("tv-1")
        _ = try await rig.link(rig.approve())
        let entered = try await rig.signIn(rig.approve(device: "tv-2"), device: "tv-2").entered()
        try await rig.files.refuseInserts(into: "streaming_session")
        let signed = try await rig.approve(device: "tv-2")
        #expect(await refusal { try await rig.signIn(signed, device: "tv-2") } == .internal)
        #expect(rig.logins.ended == [] && rig.logins.session("tv-2")?.id == entered.sessionID)
        #expect(try await rig.session(entered.sessionID) != nil)
    }
}
