internal import Identifiers
internal import SamlExplanation
internal import Cryptography

extension Identifier where Subject == UpstreamRequestSubject {
    /// An NCName of 160 random bits (mvpd §2.2).
    static func random(from source: any RandomSource) -> UpstreamRequestID {
        UpstreamRequestID("_" + Hex.encode(source.bytes(20)))
    }
}
