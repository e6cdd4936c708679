import Cryptography
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

struct UserIDScramblerTests {
    @Test("rest-v1 §7: HMAC-SHA-256 over mvpd, a zero byte and the upstream id, in lower-case hex")
    func matchesKnownValue() throws {
        let key = try SymmetricKey(bytes: Array(0..<32))
        // printf 'DemoCable\0user-42' | openssl dgst -sha256 -mac HMAC -macopt hexkey:000102…1f
        #expect(
            UserIDScrambler(key: key).scramble("user-42", mvpd: MvpdID("DemoCable"))
                == "70a54b64ca2e63b9521265c75c7753d7837d0d8d659a3542c93c012844a59021")
    }

    @Test("The border between MVPD and id counts")
    func separatesParts() {
        let scrambler = UserIDScrambler(key: .random())
        #expect(scrambler.scramble("bc", mvpd: MvpdID("a")) != scrambler.scramble("c", mvpd: MvpdID("ab")))
    }
}
