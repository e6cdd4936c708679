import Clocks
import Cryptography
import Synchronization
import Testing

@testable import Tokens

/// Access tokens while the files of their keys change.
@Suite struct SigningKeyRotationTests {
    private final class MovedClock: WallClock {
        private let moment = Mutex(Timestamp(seconds: 1_741_083_330))

        func now() -> Timestamp { moment.withLock { $0 } }
        func advance(_ span: Duration) { moment.withLock { $0 = $0 + span } }
    }

    private let clock = MovedClock()
    private let first = SigningKeyRotationTests.key()
    private let second = SigningKeyRotationTests.key()

    private static func key() -> SigningKey {
        guard let key = try? P256PrivateKey.generate() else { preconditionFailure("no P-256 key can be made") }
        return SigningKey(key)
    }

    private func rotation(_ files: SigningKeyFiles) -> SigningKeyRotation {
        SigningKeyRotation(files, lead: .seconds(60), tokenLife: .seconds(3600), clock: clock)
    }

    private func token(by keys: SigningKeys) throws -> String {
        try AccessTokenIssuer(keys: keys, issuer: "us", audience: "api", lifetime: .seconds(3600), clock: clock).issue(client: "c", scopes: []).token
    }

    private func isGood(_ token: String, at keys: SigningKeys) -> Bool {
        (try? AccessTokenVerifier(keys: keys, issuer: "us", audience: "api", clock: clock).verify(token)) != nil
    }

    @Test("Two copies read the new file at different times: no token of either is refused by the other")
    func copiesThatChangeOneAfterTheOther() throws {
        let (early, late) = (rotation(SigningKeyFiles(current: first)), rotation(SigningKeyFiles(current: first)))
        let before = try token(by: early.keys)
        early.adopt(SigningKeyFiles(current: second))
        #expect(isGood(try token(by: early.keys), at: late.keys), "what signs is the old key still")
        clock.advance(.seconds(30))
        late.adopt(SigningKeyFiles(current: second))
        clock.advance(.seconds(30))
        #expect(early.advance())
        #expect(early.keys.ring.current.identifier == second.identifier)
        #expect(late.keys.ring.current.identifier == first.identifier)
        for token in [before, try token(by: early.keys), try token(by: late.keys)] {
            #expect(isGood(token, at: early.keys) && isGood(token, at: late.keys))
        }
        clock.advance(.seconds(3540))
        let last = try token(by: late.keys)
        #expect(isGood(last, at: late.keys))
        early.advance()
        late.advance()
        #expect(late.keys.ring.current.identifier == second.identifier)
        clock.advance(.seconds(119))
        early.advance()
        #expect(early.keys.keySet.keys.count == 2, "another copy may have signed with it for the lead time")
        clock.advance(.seconds(1))
        early.advance()
        #expect(early.keys.keySet.keys.count == 1, "the first key's tokens are over")
    }

    @Test func aKeyThatWasAnnouncedSignsAtOnceWhenItsTimeHasCome() throws {
        let keys = rotation(SigningKeyFiles(current: first, next: second))
        let foreign = rotation(SigningKeyFiles(current: second))
        #expect(isGood(try token(by: foreign.keys), at: keys.keys))
        clock.advance(.seconds(60))
        keys.adopt(SigningKeyFiles(current: second))
        #expect(keys.keys.ring.current.identifier == second.identifier)
    }

    @Test func afterARestartOlderKeysStillVerify() throws {
        let token = try token(by: rotation(SigningKeyFiles(current: first)).keys)
        #expect(!isGood(token, at: rotation(SigningKeyFiles(current: second)).keys))
        let keys = rotation(SigningKeyFiles(current: second, older: [first.publicKey, second.publicKey]))
        #expect(isGood(token, at: keys.keys))
        #expect(keys.keys.keySet.keys.count == 2)
        keys.adopt(SigningKeyFiles(current: second))
        #expect(!isGood(token, at: keys.keys), "what the files list no more is refused")
    }
}
