public import Cryptography
internal import Synchronization
public import Tokens

/// The public keys that programmers' backends verify media tokens with; replaced while they are read.
public final class PublishedMediaTokenKeys: Sendable {
    private let pem: Mutex<String>
    private let jwsKeys: SigningKeys

    /// - Parameters:
    ///   - certificates: Of the reference form, the newest first; several while keys rotate.
    ///   - jwsKeys: Of the JWS form.
    /// - Throws: `CryptographyError` when a certificate cannot be encoded.
    public init(certificates: [Certificate], jwsKeys: SigningKeys) throws(CryptographyError) {
        pem = Mutex(try Self.encode(certificates))
        self.jwsKeys = jwsKeys
    }

    /// - Throws: `CryptographyError` when a certificate cannot be encoded; the old ones stay.
    public func replace(certificates: [Certificate]) throws(CryptographyError) {
        let encoded = try Self.encode(certificates)
        pem.withLock { $0 = encoded }
    }

    /// PEM, concatenated.
    public var certificates: String { pem.withLock { $0 } }
    var jwks: String { jwsKeys.keySet.json }

    private static func encode(_ certificates: [Certificate]) throws(CryptographyError) -> String {
        var pem = ""
        for certificate in certificates { pem += try certificate.pem() }
        return pem
    }
}
