import Cryptography
import Testing

struct RSASignatureSchemeTests {
    @Test("A signature of one scheme is none of the other", arguments: [RSASignatureScheme.pkcs1v15, .pss])
    func keepsSchemesApart(_ scheme: RSASignatureScheme) throws {
        let key = try RSAPrivateKey.generate()
        let bytes = Array("signed".utf8)
        let signature = try key.sign(bytes, scheme: scheme)
        #expect(key.publicKey.isValid(signature, for: bytes, scheme: scheme))
        #expect(!key.publicKey.isValid(signature, for: bytes, scheme: scheme == .pss ? .pkcs1v15 : .pss))
        #expect(!key.publicKey.isValid(signature, for: Array("other".utf8), scheme: scheme))
        #expect(try !RSAPrivateKey.generate().publicKey.isValid(signature, for: bytes, scheme: scheme))
    }
}
