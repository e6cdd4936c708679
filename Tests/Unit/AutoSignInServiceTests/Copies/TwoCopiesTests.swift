import Clocks
import Contracts
import Faults
import Storage
import Testing

@testable import AutoSignInService

/// Two copies of the service on one store.
@Suite("Two copies", .everyEngine)
struct TwoCopiesTests {
    @Test("a call that reaches two copies with one key at the same time has one effect and one answer")
    func oneKeyAtTwoCopies() async throws {
        let rig = try TokenRig()
        let other = try rig.restarted()
        for round in 0..<15 {
            rig.logins.signIn("tv-\(round)", user: "person-\(round)")
            async let first = rig.issue("tv-\(round)", key: "key-\(round)")
            async let second = other.issue("tv-\(round)", key: "key-\(round)")
            let (one, two) = (try await first, try await second)
            #expect(one.familyID == two.familyID && one.value == two.value, "round \(round)")
            let again = try await other.issue("tv-\(round)", key: "key-\(round)")
            #expect(again.familyID == one.familyID)
        }
        let families = try await rig.files.read { try $0.value("SELECT count(*) FROM family") as Int? }
        #expect(families == 15)
    }

    @Test("a copy that held a letter for longer than its lease records nothing about it")
    func lostLease() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        try await rig.deliver()
        try await rig.revoke(token.familyID)
        let now = rig.clock.now()
        let kinds = OutboxKind.allCases
        let due = try await AutoSignInStore(rig.files).dueLetters(kinds, now: now, limit: 10)
        let letter = try #require(due.first)
        let lease = now + .seconds(120)
        #expect(try await rig.files.write { try $0.run(Database.claim(letter, until: lease)) } == 1)
        var held = letter
        held.progress.attempts += 1
        held.nextAt = lease
        let mine = held
        #expect(try await rig.files.read { try $0.isHeld(mine) })
        rig.clock.advance(by: .seconds(121))
        let later = rig.clock.now()
        let taken = try #require(try await AutoSignInStore(rig.files).dueLetters(kinds, now: later, limit: 10).first)
        #expect(try await rig.files.write { try $0.run(Database.claim(taken, until: later + .seconds(120))) } == 1)
        #expect(try await !rig.files.read { try $0.isHeld(mine) })
    }

    @Test("a state that only a newer version knows is no revoked value")
    func unknownState() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        rig.logins.signIn("tv-2", user: "ada")
        let other = try rig.restarted()
        try await rig.files.write { try $0.run("UPDATE token_version SET state = 99") }
        #expect(await refusal { try await other.redeem(token.value) } == .unavailable)
    }
}
