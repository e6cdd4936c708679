internal import Octets
internal import COpenSSL

/// A key on the curve P-256 that verifies (ES256).
public struct P256PublicKey: Sendable {
    /// Length of a coordinate in bytes.
    public static let coordinateByteCount = 32

    let handle: KeyHandle

    init(handle: KeyHandle) throws(CryptographyError) {
        try handle.requireP256()
        self.handle = handle
    }

    init(trusted handle: KeyHandle) { self.handle = handle }

    /// - Parameter pem: SubjectPublicKeyInfo.
    /// - Throws: `CryptographyError.notPEM`, `.wrongKeyType`.
    public init(pem: String) throws(CryptographyError) { try self.init(handle: .publicKey(pem: pem)) }

    /// The public key of a file that holds a public key or a private one.
    /// - Parameter pem: SubjectPublicKeyInfo, PKCS#8 or SEC 1, not encrypted.
    /// - Throws: `CryptographyError.notPEM`, `.wrongKeyType`.
    public init(ofEitherPEM pem: String) throws(CryptographyError) {
        do {
            try self.init(pem: pem)
        } catch .notPEM {
            do {
                self = try P256PrivateKey(pem: pem).publicKey
            } catch .notPEM {
                throw .notPEM(expected: "public or private key")
            }
        }
    }

    /// The public key of a file that holds it, or the private one.
    /// - Throws: as `init(ofEitherPEM:)`, and `CryptographyError.unreadableFile`.
    public init(ofEitherPEMFile path: String) throws(CryptographyError) {
        try self.init(ofEitherPEM: String(decoding: try SecretFile.read(path), as: UTF8.self))
    }

    /// - Parameters:
    ///   - x: Big-endian, 32 bytes, as in a JWK.
    ///   - y: Big-endian, 32 bytes, as in a JWK.
    /// - Throws: `CryptographyError.malformed` when they are no point of the curve.
    public init(x: [UInt8], y: [UInt8]) throws(CryptographyError) {
        guard x.count == Self.coordinateByteCount, y.count == Self.coordinateByteCount else { throw .malformed("P-256 coordinates") }
        let point = [4] + x + y
        try self.init(handle: KeyHandle(built: boxoffice_p256_public_key(point, point.count)))
    }

    /// The coordinates x and y, big-endian, 32 bytes each.
    public var coordinates: (x: [UInt8], y: [UInt8]) {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = EVP_PKEY_get1_encoded_public_key(handle.pointer, &bytes)
        precondition(count == 65, "a P-256 key has an uncompressed point of 65 bytes")
        defer { CRYPTO_free(bytes, #file, #line) }
        let point = Array(UnsafeBufferPointer(start: bytes, count: count))
        return (Array(point[1..<33]), Array(point[33...]))
    }

    /// True when `signature` (r and s, 64 bytes) is ES256 over the bytes by this key.
    public func isValid(_ signature: [UInt8], for bytes: [UInt8]) -> Bool {
        guard let encoded = ECDSASignature.der(fromRaw: signature) else { return false }
        return handle.isValid(encoded, for: bytes)
    }

    /// SubjectPublicKeyInfo as PEM text.
    /// - Throws: `CryptographyError.failed`.
    public func pem() throws(CryptographyError) -> String { try handle.publicKeyPEM() }

    /// SHA-256 of the DER SubjectPublicKeyInfo, 32 bytes: names the key.
    /// - Throws: `CryptographyError.failed`.
    public func digest() throws(CryptographyError) -> [UInt8] { try handle.publicKeyDigest() }
}
