import Clocks
import Cryptography
import ManualClocks
import MediaTokenVerifier
import Tokens

/// An issuer with throwaway keys, and what a backend would trust.
struct MediaTokenFixture {
    /// 2025-03-04 10:15:30.250 UTC.
    static let now = Timestamp(milliseconds: 1_741_083_330_250)

    let identity: CertifiedKey
    let jwsKeys: SigningKeys
    let issuer: MediaTokenIssuer
    let trusted: TrustedMediaTokenKeys

    /// Making an RSA key takes long; most tests may share one.
    private static let sharedKey = Result { try RSAPrivateKey.generate() }

    /// - Parameter key: `nil` takes one that other fixtures have too.
    init(now: Timestamp = Self.now, key: RSAPrivateKey? = nil) throws {
        let key = try key ?? Self.sharedKey.get()
        identity = try .selfSigned(commonName: "media tokens", key: .rsa(key))
        jwsKeys = SigningKeys(SigningKeyRing(current: JoseSigningKey(try .generate())))
        issuer = MediaTokenIssuer(referenceKey: ReferenceSigningKey(key), jwsKeys: jwsKeys, pool: SigningPool(threads: 1), clock: ManualClock(now))
        var trusted = try TrustedMediaTokenKeys(certificates: [identity.certificate])
        try trusted.add(jwks: jwsKeys.keySet.json)
        self.trusted = trusted
    }

    static let play = MediaTokenIssuer.Play(
        sessionGUID: String(repeating: "ab", count: 32), requestor: "CHAN7", resource: "CHAN7-HD", mvpd: "DemoCable", ttl: .seconds(420))

    func verifier(at now: Timestamp = Self.now, replays: ReplayCache? = nil) -> MediaTokenVerifier {
        MediaTokenVerifier(trustedKeys: trusted, clock: ManualClock(now), replays: replays)
    }

    func verdict(_ token: String, requestor: String? = "CHAN7", resource: String? = "CHAN7-HD", at now: Timestamp = Self.now) -> MediaTokenVerdict {
        verifier(at: now).verify(token, requestor: requestor, resource: resource).verdict
    }
}
