internal import Cryptography

extension Identifier where Subject == SamlRequestSubject {
    /// An NCName of 160 random bits (mvpd §2.2).
    static func random(from source: any RandomSource) -> SamlRequestID {
        SamlRequestID("_" + Hex.encode(source.bytes(20)))
    }
}
