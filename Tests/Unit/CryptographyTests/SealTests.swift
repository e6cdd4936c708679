import Cryptography
import Testing

@Suite struct SealTests {
    private let key = SymmetricKey.random()
    private let plaintext = Array("the upstream user id".utf8)

    @Test func opensWhatItSealed() throws {
        #expect(try AESGCM.open(AESGCM.seal(plaintext, key: key), key: key) == plaintext)
        #expect(try AESGCM.open(AESGCM.seal([], key: key, context: [1]), key: key, context: [1]) == [])
    }

    @Test func neverSealsTheSameWayTwice() throws {
        #expect(try AESGCM.seal(plaintext, key: key) != AESGCM.seal(plaintext, key: key))
    }

    @Test func refusesEveryAlteredByte() throws {
        let sealed = try AESGCM.seal(plaintext, key: key)
        for index in sealed.indices {
            var altered = sealed
            altered[index] ^= 1
            #expect(throws: CryptographyError.cannotOpen) { try AESGCM.open(altered, key: key) }
        }
    }

    @Test func refusesAnotherKeyAnotherContextAndACutMessage() throws {
        let sealed = try AESGCM.seal(plaintext, key: key, context: [1])
        #expect(throws: CryptographyError.cannotOpen) { try AESGCM.open(sealed, key: .random(), context: [1]) }
        #expect(throws: CryptographyError.cannotOpen) { try AESGCM.open(sealed, key: key, context: [2]) }
        #expect(throws: CryptographyError.cannotOpen) { try AESGCM.open(sealed, key: key) }
        #expect(throws: CryptographyError.cannotOpen) { try AESGCM.open(Array(sealed.prefix(27)), key: key, context: [1]) }
    }

    @Test func aKeyIsNeverPrinted() throws {
        let secret = try SymmetricKey(bytes: [UInt8](repeating: 7, count: 32))
        var dumped = ""
        dump(secret, to: &dumped)
        #expect("\(secret)" == "[hidden]")
        #expect(!dumped.contains("7"))
    }

    @Test func aKeyHas32Bytes() {
        #expect(throws: CryptographyError.self) { try SymmetricKey(bytes: [1, 2, 3]) }
    }
}
