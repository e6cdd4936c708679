internal import COpenSSL
public import Clocks
internal import Octets

/// An X.509 certificate. Reading one says nothing about trust.
public struct Certificate: Sendable, Hashable {
    let handle: CertificateHandle
    /// DER encoding.
    public let der: [UInt8]
    /// First moment of validity.
    public let notBefore: Timestamp
    /// Last moment of validity.
    public let notAfter: Timestamp

    init(handle: CertificateHandle) throws(CryptographyError) {
        self.handle = handle
        // OpenSSL checks the text of a date only when the date is read.
        guard let start = Self.moment(X509_get0_notBefore(handle.pointer)), let end = Self.moment(X509_get0_notAfter(handle.pointer)) else {
            ERR_clear_error()
            throw .malformed("certificate: a date that is none")
        }
        (notBefore, notAfter) = (start, end)
        der = try writeBytes("encoding a certificate") { i2d_X509_bio($0, handle.pointer) }
    }

    /// - Throws: `CryptographyError.malformed`.
    public init(der bytes: [UInt8]) throws(CryptographyError) {
        guard let pointer = withReadBuffer(bytes, { d2i_X509_bio($0, nil) }) else {
            ERR_clear_error()
            throw .malformed("certificate")
        }
        try self.init(handle: CertificateHandle(owning: pointer))
        guard der.count == bytes.count else { throw .malformed("certificate: bytes after its end") }
    }

    /// The first certificate of a PEM text.
    /// - Throws: `CryptographyError.notPEM`.
    public init(pem: String) throws(CryptographyError) {
        guard let first = try Self.all(pem: pem).first else { throw .notPEM(expected: "certificate") }
        self = first
    }

    /// - Throws: as `init(pem:)`, and `CryptographyError.unreadableFile`.
    public init(pemFile path: String) throws(CryptographyError) {
        try self.init(pem: String(decoding: try SecretFile.read(path), as: UTF8.self))
    }

    /// Every certificate of a PEM text, in its order; other blocks are skipped.
    /// - Throws: `CryptographyError.notPEM` when there is none or one is broken.
    public static func all(pem: String) throws(CryptographyError) -> [Certificate] {
        let pem = Pem.text(pem)
        let pointers = withReadBuffer(Array(pem.utf8)) { buffer in
            var found: [OpaquePointer] = []
            while let pointer = PEM_read_bio_X509(buffer, nil, { _, _, _, _ in 0 }, nil) { found.append(pointer) }
            return found
        }
        ERR_clear_error()
        let announced = pem.split(separator: "\n").filter { $0.hasPrefix("-----BEGIN CERTIFICATE-----") }.count
        let handles = pointers.map(CertificateHandle.init(owning:))
        guard !handles.isEmpty, handles.count >= announced else { throw .notPEM(expected: "certificate") }
        var certificates: [Certificate] = []
        for handle in handles { certificates.append(try Certificate(handle: handle)) }
        return certificates
    }

    /// Every certificate of a PEM file.
    /// - Throws: as `all(pem:)`, and `CryptographyError.unreadableFile`.
    public static func all(pemFile path: String) throws(CryptographyError) -> [Certificate] {
        try all(pem: String(decoding: try SecretFile.read(path), as: UTF8.self))
    }

    /// The certificate as PEM text.
    /// - Throws: `CryptographyError.failed`.
    public func pem() throws(CryptographyError) -> String {
        String(decoding: try writeBytes("encoding a certificate") { PEM_write_bio_X509($0, handle.pointer) }, as: UTF8.self)
    }

    public static func == (left: Certificate, right: Certificate) -> Bool { left.der == right.der }

    public func hash(into hasher: inout Hasher) { hasher.combine(der) }
}

extension Certificate {
    /// The subject's distinguished name as RFC 2253 text, for example `CN=gateway`.
    public var subject: String { text(of: X509_get_subject_name(handle.pointer)) }

    /// The issuer's distinguished name as RFC 2253 text.
    public var issuer: String { text(of: X509_get_issuer_name(handle.pointer)) }

    /// DNS names among the subject alternative names, in their order; names with bytes other than printable ASCII are left out.
    public var dnsNames: [String] {
        guard let names = boxoffice_names_of(handle.pointer) else { return [] }
        defer { boxoffice_names_free(names) }
        return (0..<boxoffice_names_count(names)).compactMap { index in
            var count = 0
            guard let start = boxoffice_names_dns(names, index, &count) else { return nil }
            let bytes = UnsafeBufferPointer(start: start, count: count)
            return bytes.allSatisfy { (0x21...0x7E).contains($0) } ? String(decoding: bytes, as: UTF8.self) : nil
        }
    }

    /// True from `notBefore` to `notAfter`, both included.
    public func isValid(at now: Timestamp) -> Bool { notBefore <= now && now <= notAfter }

    /// SHA-256 of the DER encoding, 32 bytes.
    public var fingerprint: [UInt8] { SHA256.hash(der) }

    /// - Throws: `CryptographyError.wrongKeyType` or `.weakKey` for a key that Boxoffice does not use.
    public func publicKey() throws(CryptographyError) -> PublicKey {
        guard let key = X509_get_pubkey(handle.pointer) else { throw .last("reading the key of a certificate") }
        return try PublicKey(handle: KeyHandle(owning: key))
    }

    /// True when the certificate holds the public half of that key.
    public func belongs(to key: PrivateKey) -> Bool { belongs(to: key.handle) }

    func belongs(to key: KeyHandle) -> Bool {
        let matches = X509_check_private_key(handle.pointer, key.pointer) == 1
        if !matches { ERR_clear_error() }
        return matches
    }

    /// True when the certificate is signed by the key in `authority`. Usages and dates are not checked.
    public func isSigned(by authority: Certificate) -> Bool {
        let isSigned = X509_verify(handle.pointer, X509_get0_pubkey(authority.handle.pointer)) == 1
        if !isSigned { ERR_clear_error() }
        return isSigned
    }

    private func text(of name: OpaquePointer?) -> String {
        let bytes = try? writeBytes("printing a name") { boxoffice_print_name($0, name) }
        return String(decoding: bytes ?? [], as: UTF8.self)
    }

    /// - Returns: `nil` for what is no date.
    private static func moment(_ time: UnsafePointer<ASN1_TIME>?) -> Timestamp? {
        var days: Int32 = 0
        var seconds: Int32 = 0
        let epoch = ASN1_TIME_set(nil, 0)
        defer { ASN1_TIME_free(epoch) }
        guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return nil }
        return Timestamp(seconds: Int64(days) * 86_400 + Int64(seconds))
    }
}

/// Owns one `X509`.
///
/// `@unchecked Sendable`: the certificate is never changed after `init`; libcrypto guards what it caches in it by itself.
final class CertificateHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    /// - Parameter pointer: Becomes this object's own.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { X509_free(pointer) }
}

/// Subject alternative names.
public struct CertificateNames: Sendable, Hashable {
    /// For example `gateway.boxoffice`.
    public var dns: [String]
    /// IPv4 or IPv6 text.
    public var addresses: [String]

    /// - Parameters:
    ///   - dns: Host names.
    ///   - addresses: IPv4 or IPv6 text.
    public init(dns: [String] = [], addresses: [String] = []) {
        self.dns = dns
        self.addresses = addresses
    }
}

/// The period of validity of a certificate.
public struct CertificateValidity: Sendable, Hashable {
    public var notBefore: Timestamp
    public var notAfter: Timestamp

    /// - Parameters:
    ///   - notBefore: First moment of validity.
    ///   - notAfter: Last moment of validity.
    public init(notBefore: Timestamp, notAfter: Timestamp) {
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    /// A validity of that many days from `now`. It begins five minutes earlier, so that a peer with a slow clock accepts the certificate.
    public static func days(_ count: Int, from now: Timestamp = SystemClock().now()) -> CertificateValidity {
        CertificateValidity(notBefore: now - .seconds(300), notAfter: now + .seconds(count * 86_400))
    }
}

/// The permitted uses of a certificate.
public enum CertificateUsage: Sendable {
    /// Signs other certificates.
    case authority
    /// TLS client and server.
    case peer
    /// Signs documents.
    case signing
    /// Receives encrypted keys.
    case encryption

    var profile: BoxofficeCertificateProfile {
        switch self {
        case .authority: BoxofficeProfileAuthority
        case .peer: BoxofficeProfilePeer
        case .signing: BoxofficeProfileSigning
        case .encryption: BoxofficeProfileEncryption
        }
    }
}

/// Signs certificates for the services of one cluster.
public struct CertificateAuthority: Sendable {
    public let identity: CertifiedKey

    public var certificate: Certificate { identity.certificate }

    /// An authority that exists already.
    public init(identity: CertifiedKey) { self.identity = identity }

    /// A new authority with a P-256 key.
    /// - Parameter name: Common name, 1 to 64 characters.
    /// - Throws: `CryptographyError`.
    public static func create(name: String, validity: CertificateValidity = .days(3650)) throws(CryptographyError) -> CertificateAuthority {
        CertificateAuthority(identity: try .selfSigned(commonName: name, usage: .authority, validity: validity))
    }

    /// A certificate for both ends of TLS connections.
    /// - Parameters:
    ///   - commonName: 1 to 64 characters.
    ///   - names: The names that peers check; no peer accepts the common name alone.
    ///   - key: A fresh P-256 key when absent.
    /// - Throws: `CryptographyError`.
    public func issue(
        commonName: String, names: CertificateNames, key: PrivateKey? = nil, usage: CertificateUsage = .peer,
        validity: CertificateValidity = .days(365)
    ) throws(CryptographyError) -> CertifiedKey {
        let key: PrivateKey = if let key { key } else { .p256(try .generate()) }
        let order = CertificateOrder(commonName: commonName, key: key, usage: usage, names: names, validity: validity)
        return try CertifiedKey(certificate: order.issue(by: identity), key: key)
    }
}
