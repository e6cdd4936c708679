import Contracts
import Faults
import Testing

@testable import AutoSignInService

/// The values that Sign in with Apple uses up, at two copies at the same time.
@Suite("Sign in with Apple at two copies", .everyEngine)
struct AppleCopiesTests {
    /// One address would make several people one.
    @Sendable private static func withoutEmail(_ maker: TokenMaker) -> TokenMaker { maker.with("email", nil) }

    /// The results of the two: nil for a success.
    private func both(
        _ one: AppleRig, _ other: AppleRig, _ work: @escaping @Sendable (AppleRig) async throws -> Void
    ) async -> [Fault.Code?] {
        async let first = refusal { try await work(one) }
        async let second = refusal { try await work(other) }
        return [await first, await second]
    }

    @Test("one proof lets a person in once, and the second copy finds it used")
    func proof() async throws {
        let one = try AppleRig()
        let other = try one.copy()
        for round in 0..<8 {
            let signed = try await one.approve("person-\(round)", device: "tv-\(round)", Self.withoutEmail)
            let ends = await both(one, other) { _ = try await $0.signIn(signed, device: "tv-\(round)", creates: true).entered() }
            #expect(ends.count { $0 == nil } == 1, "\(ends)")
            #expect(ends.allSatisfy { [nil, .appleTokenReplayed, .appleNonceMismatch].contains($0) }, "\(ends)")
        }
        #expect(try await one.accountCount() == 8)
    }

    @Test("a ticket is used once, and two proofs of one person find one account")
    func ticketsAndAccounts() async throws {
        let one = try AppleRig()
        let other = try one.copy()
        for round in 0..<6 {
            let ticket = try await one.signIn(
                one.approve("person-\(round)", device: "tv-\(round)", Self.withoutEmail), device: "tv-\(round)"
            ).question().ticket
            let ends = await both(one, other) { _ = try await $0.signIn(ticket: ticket, device: "tv-\(round)").entered() }
            #expect(ends.count { $0 == nil } == 1 && ends.contains(.ticketInvalid), "\(ends)")
        }
        #expect(try await one.accountCount() == 6)
        for round in 0..<6 {
            let proofs = [
                try await one.approve("friend-\(round)", device: "a-\(round)", Self.withoutEmail),
                try await one.approve("friend-\(round)", device: "b-\(round)", Self.withoutEmail),
            ]
            async let first = one.signIn(proofs[0], device: "a-\(round)", creates: true).entered().accountID
            async let second = other.signIn(proofs[1], device: "b-\(round)", creates: true).entered().accountID
            #expect(try await first == second)
        }
        #expect(try await one.accountCount() == 12)
    }

    @Test("a session of a person that one copy has ended reaches the account at no copy any more")
    func endedSession() async throws {
        let one = try AppleRig()
        let other = try one.copy()
        for round in 0..<4 {
            let (home, guest) = ("home-\(round)", "guest-\(round)")
            one.logins.signIn(home, user: "user-\(round)")
            let link = try await one.link(one.approve("person-\(round)", device: home, Self.withoutEmail), device: home)
            let signed = try await one.approve("person-\(round)", device: guest, Self.withoutEmail)
            _ = try await one.signIn(signed, device: guest).entered()
            #expect(one.logins.session(guest) != nil, "a session with TV: its record may be in memory")
            let asked = GetOptInStatusRequest(caller: Caller(who: .device(one.call(guest))))
            for _ in 0..<3 { _ = try await other.service.automaticSignIn.getOptInStatus(asked, context: other.context) }
            let revoked = try await one.service.operations.revokeApple(RevokeAppleRequest(linkID: link.id), context: one.context)
            #expect(revoked.wasKnown)
            let end = await refusal { try await other.service.automaticSignIn.getOptInStatus(asked, context: other.context) }
            #expect(end == .stepUpRequired, "round \(round)")
        }
    }

    @Test("of a person's only two links two copies take away one at most, and never the last way in")
    func lastWayIn() async throws {
        let one = try AppleRig()
        let other = try one.copy()
        for round in 0..<6 {
            let device = "tv-\(round)"
            let entered = try await one.enter("person-\(round)", device: device, Self.withoutEmail)
            let link = try #require(try await one.links(of: entered.accountID).first)
            // A second team's, which the catalogue of these tests does not have.
            let more = AppleLinkRecord(
                id: AppleLinkID("more-\(round)"), programmer: link.programmer, team: AppleTeamID("OTHERTEAM1"), subject: "x-\(round)",
                account: link.account, createdAt: link.createdAt, authorizedAt: link.authorizedAt)
            try await one.files.write { try $0.put(more) }
            // The session that speaks for the person ends with the link that made it.
            let ids = [link.id.text, more.id.text]
            async let first = refusal { try await one.unlink(device: device, link: ids[0]) }
            async let second = refusal { try await other.unlink(device: device, link: ids[1]) }
            let ends = [await first, await second]
            #expect(ends.contains { $0 != nil } && ends.allSatisfy { $0 != .internal }, "\(ends)")
            #expect(try await one.links(of: entered.accountID).count >= 1, "\(ends)")
        }
    }

    @Test("a link to the devices page opens once")
    func webLinks() async throws {
        let one = try AppleRig()
        let other = try one.copy()
        for round in 0..<6 {
            let entered = try await one.enter("person-\(round)", device: "tv-\(round)", Self.withoutEmail)
            #expect(!entered.accountID.isEmpty)
            let call = one.call("tv-\(round)")
            let link = try await one.service.automaticSignIn.createWebLink(CreateWebLinkRequest(call: call), context: one.context)
            let ends = await both(one, other) {
                _ = try await $0.service.automaticSignIn.openWebLink(OpenWebLinkRequest(handle: link.handle), context: $0.context)
            }
            #expect(ends.count { $0 == nil } == 1 && ends.contains(.stateInvalid), "\(ends)")
        }
    }
}
