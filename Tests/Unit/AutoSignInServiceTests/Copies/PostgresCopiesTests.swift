import Clocks
import Contracts
import Faults
import PostgresServer
import Storage
import Testing

@testable import AutoSignInService

/// Copies of the service on several hosts, which keep their state in one server and hear nothing of each other.
@Suite(.engine(.postgres)) struct PostgresCopiesTests {
    @Test("both engines have the same tables")
    func tables() async throws {
        let found = try await PostgresCopiesTests.differences()
        #expect(found == [])
    }

    @Test(
        "new stores on a server, and those of the first release, get the schema of kept ones",
        .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    func keptSchema() async throws {
        #expect(try await KeptSchemas.differences(of: "autosignin", steps: AutoSignInStore.postgresSteps) == [])
    }

    private static func differences() async throws -> [String] {
        try await EngineSchemas.differences(sqlite: AutoSignInStore.migrations, postgres: AutoSignInStore.postgresSteps)
    }

    @Test("what one copy has ended lets nobody in at another one, whatever that one answered a moment ago (I1)", .needsServer)
    func revocationBitesEverywhere() async throws {
        let one = try TokenRig()
        let other = try one.restarted()
        for round in 0..<10 {
            let (device, guest) = ("tv-\(round)", "guest-\(round)")
            let token = try await one.optIn(device, user: "person-\(round)")
            // Three times: the last ones write nothing.
            for _ in 0..<3 { try await other.redeem(token.value, on: guest) }
            #expect(await refusal { try await other.status(guest) } == .stepUpRequired, "the session is known")
            try await one.revoke(token.familyID, from: device)
            #expect(await refusal { try await other.redeem(token.value, on: guest) } == .tokenRevoked, "round \(round)")
            #expect(await refusal { try await other.redeem(token.value, on: "new-\(guest)") } == .tokenRevoked, "round \(round)")
        }
    }

    @Test("an account that one copy locks is locked at another one at once", .needsServer)
    func locks() async throws {
        let one = try TokenRig()
        let other = try one.restarted()
        let token = try await one.optIn()
        for _ in 0..<3 {
            try await other.redeem(token.value)
            _ = try await one.service.operations.setAccountLock(
                SetAccountLockRequest(accountID: token.accountID, isLocked: true), context: one.context)
            #expect(await refusal { try await other.redeem(token.value) } == .accountLocked)
            _ = try await one.service.operations.setAccountLock(
                SetAccountLockRequest(accountID: token.accountID, isLocked: false), context: one.context)
        }
        try await other.redeem(token.value)
    }

    @Test("an effect that leaves nothing to do for the second copy has one answer all the same", .needsServer)
    func oneRotation() async throws {
        let one = try TokenRig()
        let other = try one.restarted()
        for round in 0..<10 {
            let token = try await one.optIn("tv-\(round)", user: "person-\(round)")
            async let first = one.rotate(token.familyID, key: "key-\(round)")
            async let second = other.rotate(token.familyID, key: "key-\(round)")
            #expect(try await first == second, "round \(round)")
            #expect(await refusal { try await other.rotate(token.familyID, key: "other-\(round)") } == .rotationInProgress)
        }
    }

    @Test("a key that comes back with another request is refused by the copy that never saw it", .needsServer)
    func redeemKeys() async throws {
        let one = try TokenRig()
        let other = try one.restarted()
        let (first, second) = (try await one.optIn("tv-1"), try await one.optIn("phone"))
        try await one.redeem(first.value, key: "key")
        for copy in [one, other] { try await copy.redeem(first.value, key: "key") }
        let third = try one.restarted()
        #expect(await refusal { try await third.redeem(second.value, key: "key") } == .idempotencyKeyReused)
        try await third.redeem(second.value, key: "other")
    }

    @Test("Apple's keys only go forward, whichever copy writes last", .needsServer)
    func keysOfApple() async throws {
        let one = try TokenRig()
        let other = try one.restarted()
        let (store, another) = (AutoSignInStore(one.files), AutoSignInStore(other.files))
        let now = one.clock.now()
        try await store.keep(KeptAppleKeys(document: [2], fetchedAt: now, lifetime: .seconds(60)))
        try await another.keep(KeptAppleKeys(document: [1], fetchedAt: now - .seconds(1), lifetime: .seconds(60)))
        #expect(try await another.keptKeys()?.document == [2])
        try await another.keep(KeptAppleKeys(document: [3], fetchedAt: now + .seconds(1), lifetime: .seconds(60)))
        #expect(try await store.keptKeys()?.document == [3])
    }

    @Test("a copy with another key than the others is found out, unless it knows theirs as a former one", .needsServer)
    func sealKeys() async throws {
        let rig = try TokenRig()
        let (first, second) = (String(repeating: "5a", count: 32), String(repeating: "a5", count: 32))
        func unknown(_ hex: String, older: [String] = []) async throws -> [String] {
            try await rig.files.unknownKeys([try AutoSignInKeys(hex: hex, older: older).fingerprint])
        }
        for _ in 0..<2 { #expect(try await unknown(first) == []) }
        #expect(try await unknown(second) == ["autosignin.sealKey"])
        #expect(try await unknown(second, older: [first]) == [])
        #expect(try await unknown(second) == [])
    }
}
