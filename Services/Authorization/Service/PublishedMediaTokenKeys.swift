public import Cryptography
public import Tokens

/// The public keys that programmers' backends verify media tokens with.
public struct PublishedMediaTokenKeys: Sendable {
    private let pem: String
    private let jwsKeys: SigningKeys

    /// - Parameters:
    ///   - certificates: Of the reference form, the newest first; several while keys rotate.
    ///   - jwsKeys: Of the JWS form.
    /// - Throws: `CryptographyError` when a certificate cannot be encoded.
    public init(certificates: [Certificate], jwsKeys: SigningKeys) throws(CryptographyError) {
        var pem = ""
        for certificate in certificates { pem += try certificate.pem() }
        self.pem = pem
        self.jwsKeys = jwsKeys
    }

    var certificates: String { pem }
    var jwks: String { jwsKeys.keySet.json }
}
