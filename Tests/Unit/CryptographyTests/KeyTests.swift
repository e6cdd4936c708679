import Cryptography
import Testing

@Suite struct KeyTests {
    private let message = Array("signed text".utf8)

    @Test func rsaSignsAndVerifies() throws {
        let key = try RSAPrivateKey.generate()
        let signature = try key.sign(message)
        #expect(signature.count == 256)
        #expect(key.publicKey.isValid(signature, for: message))
        #expect(!key.publicKey.isValid(signature, for: message + [0]))
        #expect(!key.publicKey.isValid([], for: message))
        #expect(try !RSAPrivateKey.generate().publicKey.isValid(signature, for: message))
    }

    @Test func p256SignaturesHaveTheFormOfJOSE() throws {
        let key = try P256PrivateKey.generate()
        for _ in 0..<50 {
            let signature = try key.sign(message)
            #expect(signature.count == 64)
            #expect(key.publicKey.isValid(signature, for: message))
            #expect(!key.publicKey.isValid(signature, for: message + [0]))
            #expect(!key.publicKey.isValid(Array(signature.dropLast()), for: message))
        }
        #expect(!key.publicKey.isValid([UInt8](repeating: 0, count: 64), for: message))
    }

    @Test func keysSurvivePEM() throws {
        let rsa = try RSAPrivateKey.generate()
        let p256 = try P256PrivateKey.generate()
        #expect(try rsa.pem().hasPrefix(["-----BEGIN", "PRIVATE", "KEY-----\n"].joined(separator: " ")))
        #expect(try RSAPrivateKey(pem: rsa.pem()).publicKey.digest() == rsa.publicKey.digest())
        #expect(try P256PrivateKey(pem: p256.pem()).publicKey.digest() == p256.publicKey.digest())
        #expect(try RSAPublicKey(pem: rsa.publicKey.pem()).digest() == rsa.publicKey.digest())
        #expect(try P256PublicKey(pem: p256.publicKey.pem()).digest() == p256.publicKey.digest())
    }

    @Test func aPublicKeyIsReadFromEitherHalf() throws {
        let p256 = try P256PrivateKey.generate()
        #expect(try P256PublicKey(ofEitherPEM: p256.publicKey.pem()).digest() == p256.publicKey.digest())
        #expect(try P256PublicKey(ofEitherPEM: p256.pem()).digest() == p256.publicKey.digest())
        let rsa = try RSAPrivateKey.generate()
        for pem in [try rsa.pem(), try rsa.publicKey.pem()] {
            #expect(throws: CryptographyError.wrongKeyType(expected: "P-256", found: "RSA")) { _ = try P256PublicKey(ofEitherPEM: pem) }
        }
        #expect(throws: CryptographyError.notPEM(expected: "public or private key")) { _ = try P256PublicKey(ofEitherPEM: "nothing") }
    }

    @Test func publicKeysAreRebuiltFromTheirNumbers() throws {
        let rsa = try RSAPrivateKey.generate().publicKey
        let p256 = try P256PrivateKey.generate().publicKey
        #expect(rsa.exponent == [1, 0, 1])
        #expect(rsa.modulus.count == 256)
        #expect(try RSAPublicKey(modulus: rsa.modulus, exponent: rsa.exponent).digest() == rsa.digest())
        let (x, y) = p256.coordinates
        #expect(try P256PublicKey(x: x, y: y).digest() == p256.digest())
        #expect(throws: CryptographyError.self) { try P256PublicKey(x: y, y: x) }
    }

    @Test func saysWhatIsWrongWithAKey() throws {
        let rsa = try RSAPrivateKey.generate().pem()
        let p256 = try P256PrivateKey.generate().pem()
        #expect(throws: CryptographyError.wrongKeyType(expected: "P-256", found: "RSA")) { try P256PrivateKey(pem: rsa) }
        #expect(throws: CryptographyError.wrongKeyType(expected: "RSA", found: "EC")) { try RSAPrivateKey(pem: p256) }
        #expect(throws: CryptographyError.notPEM(expected: "private key")) { try RSAPrivateKey(pem: "hello") }
        #expect(throws: CryptographyError.weakKey(bits: 1024)) { try RSAPrivateKey.generate(bits: 1024) }
        #expect(throws: CryptographyError.unreadableFile(path: "/nowhere/key.pem", reason: "No such file or directory")) {
            try RSAPrivateKey(pemFile: "/nowhere/key.pem")
        }
        #expect(throws: CryptographyError.self) { try PrivateKey(pemFile: "/") }
    }

    @Test func privateKeysAreNeverPrinted() throws {
        #expect(try "\(RSAPrivateKey.generate())" == "[hidden]")
        #expect(try "\(P256PrivateKey.generate())" == "[hidden]")
    }
}
