import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationService

/// Key sets of providers (mvpd §3).
struct ProviderKeyTests {
    @Test("mvpd §3: the set is read once, and again when its time is over")
    func refreshesOnATimer() async throws {
        let rig = try Rig()
        for number in 0..<3 { try await rig.signInByOAuth(device: "dev-\(number)") }
        #expect(rig.provider.count("jwks") == 1)
        rig.clock.advance(by: .seconds(3599))
        await rig.service.signIns.keySets.refreshDue()
        #expect(rig.provider.count("jwks") == 1)
        rig.clock.advance(by: .seconds(1))
        await rig.service.signIns.keySets.refreshDue()
        #expect(rig.provider.count("jwks") == 2)
        try await rig.signInByOAuth()
        #expect(rig.provider.count("jwks") == 2)
    }

    @Test("mvpd §3: a key that was published since is found; an unknown name is looked for once")
    func looksOnceForAnUnknownKey() async throws {
        let rig = try Rig()
        try await rig.signInByOAuth()
        rig.provider.script.withLock {
            $0.key = 1
            $0.published = [0, 1]
        }
        try await rig.signInByOAuth(device: "dev-2")
        #expect(rig.provider.count("jwks") == 2)
        rig.provider.script.withLock { $0.published = [0] }
        rig.clock.advance(by: .seconds(3600))
        for number in 3..<6 {
            #expect(try await rig.finish(rig.answer(rig.visit(device: "dev-\(number)"))).result == .rejected)
        }
        // Once for the timer, once for the name.
        #expect(rig.provider.count("jwks") == 4)
    }

    @Test("A withdrawn key is good for nothing after the next read")
    func forgetsWithdrawnKeys() async throws {
        let rig = try Rig()
        try await rig.signInByOAuth()
        rig.provider.script.withLock { $0.published = [1] }
        rig.clock.advance(by: .seconds(3600))
        #expect(try await rig.finish(rig.answer(rig.visit(device: "dev-2"))).result == .rejected)
        #expect(rig.log.reasons == ["idtoken.key"])
    }

    @Test("While the set cannot be read, the one before serves")
    func keepsTheOldSet() async throws {
        let rig = try Rig()
        try await rig.signInByOAuth()
        rig.provider.script.withLock { $0.hanging = ["jwks"] }
        rig.clock.advance(by: .seconds(3600))
        try await rig.signInByOAuth(device: "dev-2")
        try await rig.signInByOAuth(device: "dev-3")
        #expect(rig.provider.count("jwks") == 2)
        rig.clock.advance(by: .seconds(60))
        rig.provider.script.withLock { $0.hanging = [] }
        try await rig.signInByOAuth(device: "dev-4")
        #expect(rig.provider.count("jwks") == 3)
    }

    @Test("A provider that hangs uses up only its own places")
    func boundsConcurrency() async throws {
        let gate = ProviderGate(limit: 2)
        let (slow, quick) = (MvpdID("Slow"), MvpdID("Quick"))
        let (entered, entry) = AsyncStream<Void>.makeStream()
        let (released, release) = AsyncStream<Void>.makeStream()
        let first = Task {
            try await gate.pass(slow) { () async throws(Fault) in
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<1 {
                        group.addTask {
                            try? await gate.pass(slow) { () async throws(Fault) in
                                entry.yield()
                                for await _ in released { break }
                            }
                        }
                    }
                }
            }
        }
        for await _ in entered { break }
        await expectFault(.overloaded) { try await gate.pass(slow) { () async throws(Fault) in } }
        try await gate.pass(quick) { () async throws(Fault) in }
        release.finish()
        try await first.value
        try await gate.pass(slow) { () async throws(Fault) in }
    }
}
