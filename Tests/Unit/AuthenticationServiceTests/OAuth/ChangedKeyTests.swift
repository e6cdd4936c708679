@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams
import Clocks
import Contracts
import Cryptography
import Doubles
import Faults
import Identifiers
import SamlProfile
import Testing

/// Keys that change while the service runs.
@Suite struct ChangedKeyTests {
    @Test("tokens that another key sealed open until they are sealed anew; after a start the settings name it")
    func tokens() throws {
        let (first, second) = (SymmetricKey.random(), SymmetricKey.random())
        let keys = try OAuthKeys(first)
        let session = SessionID("s")
        let sealed = try keys.seal.close(ProviderAccessToken("token"), of: session)
        try keys.adopt(second, older: [])
        #expect(keys.seal.open(sealed, of: session, as: ProviderAccessToken.self)?.text == "token")
        let anew = try keys.seal.close(ProviderAccessToken("token"), of: session)
        #expect(try OAuthKeys(second).seal.open(sealed, of: session, as: ProviderAccessToken.self) == nil)
        #expect(try OAuthKeys(second).seal.open(anew, of: session, as: ProviderAccessToken.self)?.text == "token")
        #expect(try OAuthKeys(second, older: [first]).seal.open(sealed, of: session, as: ProviderAccessToken.self)?.text == "token")
    }

    @Test("a person who is at the provider comes back to the key that sent them")
    func proofs() throws {
        let (first, second) = (SymmetricKey.random(), SymmetricKey.random())
        let keys = try OAuthKeys(first)
        let state = keys.proofs.state(from: SystemRandom())
        #expect(state.text.utf8.count <= 80)
        let (verifier, nonce) = (keys.proofs.verifier(state), keys.proofs.nonce(state))
        try keys.adopt(second, older: [])
        #expect(keys.proofs.verifier(state) == verifier && keys.proofs.nonce(state) == nonce)
        #expect(try OAuthKeys(second, older: [first]).proofs.verifier(state) == verifier)
        #expect(try OAuthKeys(second).proofs.verifier(state) != verifier)
        let later = keys.proofs.state(from: SystemRandom())
        #expect(try OAuthKeys(second).proofs.verifier(later) == keys.proofs.verifier(later))
        // As an earlier release made them.
        let unmarked = RelayHandle.random(from: SystemRandom())
        #expect(try OAuthKeys(second).proofs.verifier(unmarked) == keys.proofs.verifier(unmarked))
    }

    @Test("people who sign in after a change of the key have another id")
    func userIDs() {
        let ring = SymmetricKeyRing(current: .random())
        let scrambler = UserIDScrambler(keys: ring)
        let before = scrambler.scramble("ada", mvpd: MvpdID("DemoCable"))
        #expect(scrambler.scramble("ada", mvpd: MvpdID("DemoCable")) == before)
        ring.adopt(current: .random(), older: [])
        #expect(scrambler.scramble("ada", mvpd: MvpdID("DemoCable")) != before)
    }

    @Test("a ring keeps former keys, each once")
    func ring() {
        let keys = (0..<3).map { _ in SymmetricKey.random() }
        let ring = SymmetricKeyRing(current: keys[0])
        ring.adopt(current: keys[1], older: [])
        ring.adopt(current: keys[1], older: [keys[0]])
        ring.adopt(current: keys[2], older: [])
        #expect(ring.current.isEqual(to: keys[2]))
        #expect(ring.all.count == 3 && ring.all[1].isEqual(to: keys[1]) && ring.all[2].isEqual(to: keys[0]))
        for _ in 0..<20 { ring.adopt(current: .random(), older: []) }
        #expect(ring.all.count == 9)
    }
}
