import Cryptography
import Tokens

/// RSA keys take a tenth of a second and more to make: tests that do not mind whose they are share two.
enum TestRSAKeys {
    static let two = Result { (try RSAPrivateKey.generate(), try RSAPrivateKey.generate()) }
}

/// An RSA key costs a tenth of a second: one for all rigs.
enum TestServiceKey {
    static let shared = Result { ServiceTokenKey(try RSAPrivateKey.generate()) }
}
