import Contracts
import Faults
import Storage
import Testing

@testable import AutoSignInService

/// Two copies of the service on one store do two things at once, whichever; what the store promises holds afterwards.
@Suite("Races of two copies", .everyEngine)
struct RaceTests {
    @Test("whatever two copies do at once, accounts, families, sessions and letters stay in order", arguments: [1, 2, 3] as [UInt64])
    func pairs(seed: UInt64) async throws {
        var random = SplitMix(state: seed)
        let rig = try TokenRig(familiesPerAccount: RaceWorld.familiesPerAccount)
        let world = try RaceWorld(rig, try rig.restarted())
        for _ in 0..<4 { try await world.act(.optIn, at: 0, random.next()) }
        for round in 0..<40 {
            let (first, second) = (RaceAction.allCases.randomElement(using: &random)!, RaceAction.allCases.randomElement(using: &random)!)
            let (one, other) = (random.next(), random.next())
            async let here = world.act(first, at: 0, one)
            // The same choices now and then: both then want the same thing.
            async let there = world.act(second, at: 1, round % 3 == 0 ? one : other)
            do { _ = try await (here, there) } catch { Issue.record("seed \(seed), round \(round): \(first) and \(second): \(error)") }
            let broken = try await rig.files.read { try $0.brokenPromises(familiesPerAccount: RaceWorld.familiesPerAccount) }
            #expect(broken == [], "seed \(seed), round \(round): \(first) and \(second)")
        }
        try await world.settle()
        let known = try await rig.files.read { Set(try $0.values("SELECT id FROM streaming_session") as [String]) }
        #expect(rig.logins.automaticSessions.subtracting(known) == [], "no session at authentication outlives the one here")
        #expect(try await rig.files.read { try $0.value("SELECT count(*) FROM outbox") as Int? } == 0)
    }

    @Test("a crowd of one new person's devices opts in through two copies: one account, and as many families as it may have")
    func crowd() async throws {
        let one = try TokenRig(familiesPerAccount: 12)
        let other = try one.restarted()
        for device in 0..<20 { one.logins.signIn("tv-\(device)", user: "ada") }
        let ends = await withTaskGroup(of: Fault.Code?.self) { group in
            for device in 0..<20 {
                group.addTask { await untilItIsQuiet { try await (device % 2 == 0 ? one : other).issue("tv-\(device)") } }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(ends.count { $0 == nil } == 12, "\(ends)")
        #expect(ends.count { $0 == .tooManyFamilies } == 8, "\(ends)")
        #expect(try await one.files.read { try $0.value("SELECT count(*) FROM account") as Int? } == 1)
        #expect(try await one.files.read { try $0.brokenPromises(familiesPerAccount: 12) } == [])
    }

    @Test("redeems through two copies and a revocation at once: no session of the family is left (I1)")
    func redeemVersusRevoke() async throws {
        let one = try TokenRig()
        let other = try one.restarted()
        for round in 0..<4 {
            let token = try await one.optIn("tv-\(round)", user: "person-\(round)")
            await withTaskGroup(of: Void.self) { group in
                for device in 0..<16 {
                    let copy = device % 2 == 0 ? one : other
                    group.addTask { _ = await untilItIsQuiet { try await copy.redeem(token.value, on: "\(round)-\(device)") } }
                    if device == 8 { group.addTask { _ = await untilItIsQuiet { try await other.revoke(token.familyID, from: "tv-\(round)") } } }
                }
            }
            #expect(await refusal { try await one.redeem(token.value, on: "\(round)-0") } == .tokenRevoked)
            try await one.deliver()
            #expect(one.logins.automaticSessions == [], "round \(round)")
            #expect(try await one.files.read { try $0.value("SELECT count(*) FROM streaming_session") as Int? } == 0, "round \(round)")
        }
    }
}

/// As an app does that is told to come again in a moment.
private func untilItIsQuiet<Value>(_ work: () async throws -> Value) async -> Fault.Code? {
    for _ in 0..<20 {
        let end = await refusal(work)
        guard end == .unavailable else { return end }
        try? await Task.sleep(for: .milliseconds(20))
    }
    return .unavailable
}
