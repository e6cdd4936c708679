import Clocks
import Contracts
import Faults
import OutboundHttp
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// Key sets of providers (mvpd §3).
struct ProviderKeyTests {
    @Test("mvpd §3: the set is read once, and again when its time is over")
    func refreshesOnATimer() async throws {
        let rig = try Rig()
        for number in 0..<3 { try await rig.signInByOAuth(device: "dev-\(number)") }
        #expect(rig.provider.count("jwks") == 1)
        rig.clock.advance(by: .seconds(3599))
        await rig.modules.signIn.keySets.refreshDue()
        #expect(rig.provider.count("jwks") == 1)
        rig.clock.advance(by: .seconds(1))
        await rig.modules.signIn.keySets.refreshDue()
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

    @Test(
        "mvpd §3: a key that was replaced without a new name is found by one more read, which bad signatures cause at most once a minute",
        arguments: [ScriptedProvider.KeyNames.none, .one])
    func followsKeysOfTheSameName(_ names: ScriptedProvider.KeyNames) async throws {
        let rig = try Rig()
        rig.provider.script.withLock { $0.keyNames = names }
        try await rig.signInByOAuth()
        rig.provider.script.withLock { ($0.key, $0.published) = (1, [1]) }
        try await rig.signInByOAuth(device: "dev-2")
        #expect(rig.provider.count("jwks") == 2)
        // The next one comes too soon, however many ask.
        rig.provider.script.withLock { ($0.key, $0.published) = (0, [0]) }
        for number in 3..<6 { #expect(try await rig.finish(rig.answer(rig.visit(device: "dev-\(number)"))).result == .rejected) }
        #expect(rig.provider.count("jwks") == 2)
        #expect(Set(rig.log.reasons) == ["idtoken.signature"])
        rig.clock.advance(by: .seconds(60))
        try await rig.signInByOAuth(device: "dev-6")
        #expect(rig.provider.count("jwks") == 3)
    }

    @Test(
        "RFC 7517 §4.5: among several keys of one name, and among those without one, the one that fits is found",
        arguments: [ScriptedProvider.KeyNames.none, .one])
    func triesKeys(_ names: ScriptedProvider.KeyNames) async throws {
        let rig = try Rig()
        rig.provider.script.withLock { ($0.keyNames, $0.key, $0.published) = (names, 1, [0, 1]) }
        for (number, algorithm) in [ScriptedProvider.Algorithm.rs256, .ps256, .es256].enumerated() {
            rig.provider.script.withLock { $0.algorithm = algorithm }
            try await rig.signInByOAuth(device: "dev-\(number)")
        }
        #expect(rig.provider.count("jwks") == 1)
    }

    @Test("RFC 7517 §5: odd entries of a set do no harm; a set without any usable key is of no use, and the log says why")
    func skipsOddEntries() async throws {
        let rig = try Rig()
        rig.provider.script.withLock { $0.oddKeys = #"null,{"kty":"OKP"},{"kty":"RSA","kid":7},"# }
        try await rig.signInByOAuth()
        rig.clock.advance(by: .seconds(3600))
        let other = try Rig()
        other.provider.script.withLock { $0.broken["jwks"] = OutboundAnswer(status: 200, body: Array(#"{"keys":[{"kty":"OKP"}]}"#.utf8)) }
        await expectFault(.unavailable) { _ = try await other.finish(other.answer(other.visit())) }
        #expect(other.log.lines.contains { $0.fields["cause"]?.contains("no key of the set can be used") == true }, "\(other.log.lines)")
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
