#if canImport(Glibc)
internal import Octets
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import COpenSSL
internal import Octets

/// A private key of one of the two kinds that Boxoffice uses.
public enum PrivateKey: Sendable {
    case rsa(RSAPrivateKey)
    case p256(P256PrivateKey)

    /// - Parameter pem: PKCS#8, not encrypted.
    /// - Throws: `CryptographyError.notPEM`, `.wrongKeyType`, `.weakKey`.
    public init(pem: String) throws(CryptographyError) {
        let handle = try KeyHandle.privateKey(pem: pem)
        self = handle.typeName == "RSA" ? .rsa(try RSAPrivateKey(handle: handle)) : .p256(try P256PrivateKey(handle: handle))
    }

    /// - Throws: as `init(pem:)`, and `CryptographyError.unreadableFile`.
    public init(pemFile path: String) throws(CryptographyError) {
        try self.init(pem: String(decoding: try SecretFile.read(path), as: UTF8.self))
    }

    public var publicKey: PublicKey {
        switch self {
        case .rsa(let key): .rsa(key.publicKey)
        case .p256(let key): .p256(key.publicKey)
        }
    }

    /// PKCS#8 PEM, not encrypted: the file must have mode 0600.
    /// - Throws: `CryptographyError.failed`.
    public func pem() throws(CryptographyError) -> String { try handle.privateKeyPEM() }

    var handle: KeyHandle {
        switch self {
        case .rsa(let key): key.handle
        case .p256(let key): key.handle
        }
    }
}

/// A public key of one of the two kinds that Boxoffice uses.
public enum PublicKey: Sendable {
    case rsa(RSAPublicKey)
    case p256(P256PublicKey)

    init(handle: KeyHandle) throws(CryptographyError) {
        self = handle.typeName == "RSA" ? .rsa(try RSAPublicKey(handle: handle)) : .p256(try P256PublicKey(handle: handle))
    }

    /// SHA-256 of the DER SubjectPublicKeyInfo, 32 bytes: names the key.
    /// - Throws: `CryptographyError.failed`.
    public func digest() throws(CryptographyError) -> [UInt8] {
        switch self {
        case .rsa(let key): try key.digest()
        case .p256(let key): try key.digest()
        }
    }
}

/// A key on the curve P-256 that signs (ES256); prints as `[hidden]`.
public struct P256PrivateKey: Sendable, CustomStringConvertible {
    let handle: KeyHandle
    private let signature: SignatureTemplate

    init(handle: KeyHandle) throws(CryptographyError) {
        try handle.requireP256()
        self.handle = handle
        signature = try SignatureTemplate(handle)
    }

    /// - Parameter pem: PKCS#8 or SEC 1, not encrypted.
    /// - Throws: `CryptographyError.notPEM`, `.wrongKeyType`.
    public init(pem: String) throws(CryptographyError) { try self.init(handle: .privateKey(pem: pem)) }

    /// - Throws: as `init(pem:)`, and `CryptographyError.unreadableFile`.
    public init(pemFile path: String) throws(CryptographyError) {
        try self.init(pem: String(decoding: try SecretFile.read(path), as: UTF8.self))
    }

    /// Makes a new key.
    /// - Throws: `CryptographyError.failed`.
    public static func generate() throws(CryptographyError) -> P256PrivateKey {
        try P256PrivateKey(handle: .generate("EC") { EVP_PKEY_CTX_set_group_name($0, "prime256v1") })
    }

    public var publicKey: P256PublicKey { P256PublicKey(trusted: handle) }

    /// PKCS#8 PEM, not encrypted: the file must have mode 0600.
    /// - Throws: `CryptographyError.failed`.
    public func pem() throws(CryptographyError) -> String { try handle.privateKeyPEM() }

    /// ECDSA over SHA-256 in the form of JOSE (RFC 7518 §3.4): r and s, 32 bytes each.
    /// - Throws: `CryptographyError.failed`.
    public func sign(_ bytes: [UInt8]) throws(CryptographyError) -> [UInt8] { try ECDSASignature.raw(fromDER: signature.sign(bytes)) }

    public var description: String { "[hidden]" }
}

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

/// Reads key and certificate files.
enum SecretFile {
    /// Key and certificate files are far smaller; a wrong path (a log, a device) is refused instead of read.
    static let largestByteCount = 1 << 20

    /// - Throws: `CryptographyError.unreadableFile`.
    static func read(_ path: String) throws(CryptographyError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path) }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = systemRead(descriptor, &part, part.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(path) }
            guard count > 0 else { return content }
            content += part[..<count]
            guard content.count <= largestByteCount else { throw .unreadableFile(path: path, reason: "larger than \(largestByteCount) bytes") }
        }
    }

    private static func unreadable(_ path: String) -> CryptographyError {
        .unreadableFile(path: path, reason: String(cString: strerror(errno)))
    }
}

/// The C function; inside the type, its own `read` hides the name.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int { read(descriptor, buffer, count) }

/// The two forms of an ECDSA signature on P-256: DER (X.509) and r followed by s (JOSE).
enum ECDSASignature {
    private static let numberByteCount = 32

    static func raw(fromDER encoded: [UInt8]) throws(CryptographyError) -> [UInt8] {
        let signature = encoded.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i_ECDSA_SIG(nil, &start, bytes.count)
        }
        guard let signature else { throw .last("reading an ECDSA signature") }
        defer { ECDSA_SIG_free(signature) }
        return try bytes(of: ECDSA_SIG_get0_r(signature)) + bytes(of: ECDSA_SIG_get0_s(signature))
    }

    /// - Returns: `nil` unless there are 64 bytes.
    static func der(fromRaw bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count == 2 * numberByteCount, let signature = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(signature) }
        let r = BN_bin2bn(Array(bytes.prefix(numberByteCount)), Int32(numberByteCount), nil)
        let s = BN_bin2bn(Array(bytes.suffix(numberByteCount)), Int32(numberByteCount), nil)
        guard ECDSA_SIG_set0(signature, r, s) == 1 else { return nil }
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = i2d_ECDSA_SIG(signature, &encoded)
        guard count > 0, let encoded else { return nil }
        defer { CRYPTO_free(encoded, #file, #line) }
        return Array(UnsafeBufferPointer(start: encoded, count: Int(count)))
    }

    private static func bytes(of number: OpaquePointer?) throws(CryptographyError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: numberByteCount)
        guard BN_bn2binpad(number, &bytes, Int32(numberByteCount)) == Int32(numberByteCount) else { throw .last("reading an ECDSA signature") }
        return bytes
    }
}
