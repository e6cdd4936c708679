@testable import AuthorizationService
import Clocks
import Cryptography
import Doubles
import Faults
import Foundation
import Logging
import ManualClocks
import MediaTokenVerifier
import Storage
import Testing
import Tokens

/// Numbers of copies: no two processes give a reference token the same issue time (rest-v1 #72).
@Suite struct CopyNumberTests {
    private static let now = Timestamp(seconds: 1_930_384_800)
    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Another process of this machine that runs: the first one.
    private static let other = CopyHolder(place: "elsewhere", process: "1", start: "1")

    private final class World {
        let folder = FileManager.default.temporaryDirectory.appending(path: "copies-\(UUID().uuidString)").path
        let clock = ManualClock(now)
        let store: Store

        init(_ engine: StoreEngineCase) throws { store = try engine.open(folder) }

        deinit { try? FileManager.default.removeItem(atPath: folder) }

        func lease(_ number: Int? = nil, holder: CopyHolder = .current) -> CopyNumberLease {
            CopyNumberLease(store: store, number: number, clock: clock, logger: silent, holder: holder)
        }
    }

    @Test("copies of one store find different numbers, the lowest first", arguments: StoreEngineCase.allCases)
    func different(engine: StoreEngineCase) async throws {
        let world = try World(engine)
        let numbers = try await withThrowingTaskGroup { group in
            for index in 0..<8 {
                let lease = world.lease(holder: CopyHolder(place: "host-\(index)", process: "7", start: "1"))
                group.addTask { try await lease.window(at: Self.now).copy }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(numbers.sorted() == Array(0..<8))
    }

    @Test(
        "the end lies two seconds ahead of what is given at least, moves with use, and no later second is used", arguments: StoreEngineCase.allCases)
    func movesAhead(engine: StoreEngineCase) async throws {
        let world = try World(engine)
        let lease = world.lease()
        var last = try await lease.window(at: world.clock.now())
        for _ in 0..<20 {
            world.clock.advance(by: .milliseconds(700))
            let now = world.clock.now()
            let window = try await lease.window(at: now)
            #expect(window.copy == last.copy && window.first == last.first)
            #expect(now < window.end)
            let given = try await world.store.read { try $0.value("SELECT given_ms FROM copy_number") as Timestamp? }
            #expect(try #require(given) >= window.end)
            last = window
        }
    }

    @Test(
        "a start takes no number whose seconds are within reach: the next lowest, and the same again once they are out of it",
        arguments: StoreEngineCase.allCases)
    func restarts(engine: StoreEngineCase) async throws {
        let world = try World(engine)
        let gone = CopyHolder(place: CopyHolder.current.place, process: CopyHolder.current.process, start: "before")
        #expect(gone.isGone)
        #expect(!CopyHolder.current.isGone && !Self.other.isGone)
        #expect(try await world.lease(holder: gone).window(at: Self.now).copy == 0)
        // It was killed; the next is there within the same second.
        let second = try await world.lease().window(at: Self.now)
        #expect(second == IssueWindow(copy: 1, first: Timestamp(milliseconds: 0), end: Self.now + .seconds(60)))
        world.clock.advance(by: .seconds(185))
        #expect(try await world.lease(holder: Self.other).window(at: world.clock.now()).copy == 0)
    }

    @Test("a holder on another machine keeps the number until its lease ends", arguments: StoreEngineCase.allCases)
    func leases(engine: StoreEngineCase) async throws {
        let world = try World(engine)
        _ = try await world.lease(holder: Self.other).window(at: Self.now)
        let near = CopyHolder(place: "near", process: "2", start: "2")
        world.clock.advance(by: .seconds(29))
        #expect(try await world.lease(holder: near).window(at: world.clock.now()).copy == 1)
        world.clock.advance(by: .seconds(200))
        #expect(try await world.lease(holder: CopyHolder(place: "late", process: "3", start: "3")).window(at: world.clock.now()).copy == 0)
    }

    @Test("an orderly stop gives the number back; what follows begins after the last second that was given", arguments: StoreEngineCase.allCases)
    func release(engine: StoreEngineCase) async throws {
        let world = try World(engine)
        let first = world.lease(5)
        _ = try await first.window(at: Self.now)
        await first.release()
        let next = try await world.lease(5, holder: Self.other).window(at: Self.now)
        #expect(next.copy == 5 && next.first == Self.now + .seconds(1))
    }

    @Test(
        "a number of the settings is taken from whoever has it: windows never overlap, and the loser says so and stops until it is free",
        arguments: StoreEngineCase.allCases)
    func takenOver(engine: StoreEngineCase) async throws {
        let world = try World(engine)
        let first = world.lease(3)
        let before = try await first.window(at: Self.now)
        let second = world.lease(3, holder: Self.other)
        let after = try await second.window(at: Self.now)
        #expect(after.copy == 3 && after.first >= before.end)
        // The window of the first one is good to its end.
        #expect(try await first.window(at: before.end - .milliseconds(1)) == before)
        world.clock.advance(by: .seconds(4))
        let fault = await #expect(throws: Fault.self) { try await first.window(at: world.clock.now()) }
        #expect(fault?.code == .unavailable)
        #expect(first.lacking?.contains("number") == true)
        #expect(try await second.window(at: world.clock.now()).copy == 3)
        await #expect(throws: Fault.self, "it does not take it back") { try await first.window(at: world.clock.now()) }
        #expect(try await second.window(at: world.clock.now()).copy == 3)
        await second.release()
        #expect(try await first.window(at: world.clock.now()).copy == 3)
        #expect(first.lacking == nil, "it has the number again")
    }

    @Test("without a number of the settings the loser finds another one", arguments: StoreEngineCase.allCases)
    func findsAnother(engine: StoreEngineCase) async throws {
        let world = try World(engine)
        let first = world.lease()
        #expect(try await first.window(at: Self.now).copy == 0)
        _ = try await world.lease(0, holder: Self.other).window(at: Self.now)
        world.clock.advance(by: .seconds(61))
        #expect(try await first.window(at: world.clock.now()).copy == 1)
    }

    @Test("while the store does not answer the window stays good to its end, and no longer", arguments: StoreEngineCase.allCases)
    func storeAway(engine: StoreEngineCase) async throws {
        let world = try World(engine)
        let lease = world.lease()
        let window = try await lease.window(at: Self.now)
        await world.store.close()
        #expect(try await lease.window(at: window.end - .milliseconds(500)) == window)
        world.clock.advance(by: .seconds(100))
        await #expect(throws: Fault.self) { try await lease.window(at: world.clock.now()) }
    }

    @Test(
        "tokens of one play from two holders of one number, one after the other in one second, are all different", arguments: StoreEngineCase.allCases
    )
    func tokensDiffer(engine: StoreEngineCase) async throws {
        let world = try World(engine)
        let key = try RSAPrivateKey.generate()
        let jws = SigningKeys(SigningKeyRing(current: JoseSigningKey(try P256PrivateKey.generate())))
        let play = MediaTokenIssuer.Play(sessionGUID: "ada", requestor: "ACME1", resource: "ACME1-NEWS", mvpd: "NorthCable", ttl: .seconds(420))
        func issuer(_ lease: CopyNumberLease) -> MediaTokenIssuer {
            MediaTokenIssuer(referenceKey: ReferenceSigningKey(key), jwsKeys: jws, pool: SigningPool(threads: 1), clock: world.clock, windows: lease)
        }
        var tokens: [String] = []
        let first = issuer(world.lease(3))
        for _ in 0..<5 { tokens.append(try await first.issue(play, form: .reference).serialized) }
        let second = issuer(world.lease(3, holder: Self.other))
        // The former holder may have used any second before the end of its window.
        let early = await #expect(throws: Fault.self) { try await second.issue(play, form: .reference) }
        #expect(early?.code == .unavailable && early?.retryAfter != nil)
        for _ in 0..<6 {
            world.clock.advance(by: .seconds(1))
            for issuer in [first, second] {
                if let token = try? await issuer.issue(play, form: .reference) { tokens.append(token.serialized) }
            }
        }
        #expect(tokens.count >= 5 + 2 + 3)
        #expect(Set(tokens).count == tokens.count)
    }
}
