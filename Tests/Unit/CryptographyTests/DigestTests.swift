import Cryptography
import Testing

@Suite struct DigestTests {
    @Test func hashesTheVectorOfFIPS180() {
        #expect(Hex.encode(SHA256.hash("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(Hex.encode(SHA256.hash([])) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }

    @Test func authenticatesLikeTheCommandLine() throws {
        // `printf 'message' | openssl dgst -sha256 -mac HMAC -macopt hexkey:00…00`
        let key = try SymmetricKey(bytes: [UInt8](repeating: 0, count: 32))
        let code = HMACSHA256.authenticate(Array("message".utf8), key: key)
        #expect(Hex.encode(code) == Self.expected)
        #expect(HMACSHA256.isValid(code, for: Array("message".utf8), key: key))
        #expect(!HMACSHA256.isValid(code, for: Array("messagf".utf8), key: key))
        #expect(!HMACSHA256.isValid(Array(code.dropLast()), for: Array("message".utf8), key: key))
    }

    @Test func comparesWholeValues() {
        #expect(ConstantTime.equal("abc", "abc"))
        #expect(!ConstantTime.equal("abc", "abd"))
        #expect(!ConstantTime.equal("abc", "ab"))
        #expect(ConstantTime.equal([UInt8](), []))
    }

    @Test func randomBytesDiffer() {
        let values = Set((0..<100).map { _ in SecureRandom.bytes(16) })
        #expect(values.count == 100)
    }

    private static let expected = "eb08c1f56d5ddee07f7bdf80468083da06b64cf4fac64fe3a90883df5feacae4"
}
