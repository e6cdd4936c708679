import Clocks
import Cryptography
import ManualClocks
import Testing

@testable import Tokens

/// Access tokens while the files of their keys change.
@Suite struct SigningKeyRotationTests {
    private let clock = ManualClock(Timestamp(seconds: 1_741_083_330))
    private let first = SigningKeyRotationTests.key()
    private let second = SigningKeyRotationTests.key()

    private static func key() -> JoseSigningKey {
        guard let key = try? P256PrivateKey.generate() else { preconditionFailure("no P-256 key can be made") }
        return JoseSigningKey(key)
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
        clock.advance(by: .seconds(30))
        late.adopt(SigningKeyFiles(current: second))
        clock.advance(by: .seconds(30))
        #expect(early.advance())
        #expect(early.keys.ring.current.identifier == second.identifier)
        #expect(late.keys.ring.current.identifier == first.identifier)
        for token in [before, try token(by: early.keys), try token(by: late.keys)] {
            #expect(isGood(token, at: early.keys) && isGood(token, at: late.keys))
        }
        clock.advance(by: .seconds(3540))
        let last = try token(by: late.keys)
        #expect(isGood(last, at: late.keys))
        early.advance()
        late.advance()
        #expect(late.keys.ring.current.identifier == second.identifier)
        clock.advance(by: .seconds(119))
        early.advance()
        #expect(early.keys.keySet.keys.count == 2, "another copy may have signed with it for the lead time")
        clock.advance(by: .seconds(1))
        early.advance()
        #expect(early.keys.keySet.keys.count == 1, "the first key's tokens are over")
    }

    @Test func aKeyThatWasAnnouncedSignsAtOnceWhenItsTimeHasCome() throws {
        let keys = rotation(SigningKeyFiles(current: first, next: second))
        let foreign = rotation(SigningKeyFiles(current: second))
        #expect(isGood(try token(by: foreign.keys), at: keys.keys))
        clock.advance(by: .seconds(60))
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

    @Test("Copies that tell each other verify what any of them signs, and a new key signs once all could know it for the lead time")
    func copiesThatTellEachOther() throws {
        let (one, other) = (rotation(SigningKeyFiles(current: first)), rotation(SigningKeyFiles(current: second)))
        #expect(!isGood(try token(by: other.keys), at: one.keys))
        let start = clock.now()
        let all = one.published + other.published
        #expect(one.share(all, since: [first.identifier: start, second.identifier: start]))
        #expect(!one.share(all, since: [first.identifier: start, second.identifier: start]))
        #expect(other.share(all, since: [:]))
        #expect(isGood(try token(by: other.keys), at: one.keys))
        #expect(isGood(try token(by: one.keys), at: other.keys))
        let third = Self.key()
        one.adopt(SigningKeyFiles(current: third))
        clock.advance(by: .seconds(60))
        #expect(!one.advance(), "nobody has heard of it")
        one.share(all + [third.publicKey], since: [third.identifier: clock.now()])
        clock.advance(by: .seconds(59))
        #expect(!one.advance())
        clock.advance(by: .seconds(1))
        #expect(one.advance() && one.signingKeyName == third.identifier)
        // The other one got its file later, and changes at the same moment.
        other.adopt(SigningKeyFiles(current: third))
        other.share(all + [third.publicKey], since: [third.identifier: clock.now() - .seconds(60)])
        #expect(other.advance() && other.signingKeyName == third.identifier)
    }

    @Test("Keys of service tokens are told to other copies too")
    func serviceTokens() throws {
        let (here, there) = (ServiceTokenKey(try RSAPrivateKey.generate()), ServiceTokenKey(try RSAPrivateKey.generate()))
        let keys = ServiceTokenKeys(ServiceTokenKeys.Files(current: here), lead: .seconds(60), clock: clock)
        keys.share([there.publicKey, here.publicKey], since: [:])
        #expect(keys.keySet.keys.map(\.identifier) == [here.identifier, there.identifier])
        #expect(keys.published.map(\.identifier) == [here.identifier])
        keys.adopt(ServiceTokenKeys.Files(current: there))
        clock.advance(by: .seconds(60))
        #expect(!keys.advance())
        keys.share([there.publicKey], since: [there.identifier: clock.now() - .seconds(60)])
        #expect(keys.advance() && keys.signing.identifier == there.identifier)
    }
}
