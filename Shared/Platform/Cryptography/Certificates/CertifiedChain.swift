internal import COpenSSL
internal import Octets

/// The certificates of a TLS server or client and their key, as PEM files have them.
public struct CertifiedChain: Sendable {
    /// The one of the key first, whatever the order of the file. Where it was not the first there, those follow that have issued each other, and then
    /// the rest.
    public let certificates: [Certificate]
    /// The key as PEM text.
    public let keyPEM: String
    /// Facts that an operator should know of the key, though it is used.
    public let facts: PrivateKeyFacts
    private let key: KeyHandle

    /// - Parameters:
    ///   - certificates: As the file has them, at least one.
    ///   - keyPEM: A private key of any kind, not encrypted.
    /// - Throws: `CryptographyError`: `notPEM`, `encryptedKey`, or `keyOfAnother` when no certificate is the key's.
    public init(_ certificates: [Certificate], keyPEM: String) throws(CryptographyError) {
        let text = Pem.text(keyPEM)
        let key = try KeyHandle.privateKey(pem: text)
        guard let place = certificates.firstIndex(where: { $0.belongs(to: key) }) else { throw .keyOfAnother }
        self.certificates = place == 0 ? certificates : Self.ordered(certificates, from: place)
        (self.key, self.keyPEM, facts) = (key, text, PrivateKeyFacts(key))
    }

    /// - Throws: As the other one, and `unreadableFile`.
    public init(_ certificates: [Certificate], keyFile: String) throws(CryptographyError) {
        try self.init(certificates, keyPEM: Pem.text(SecretFile.read(keyFile)))
    }

    /// For OpenSSL: the certificates in their order, and the key. They live as long as the value.
    package func withPointers<Value>(_ body: (_ certificates: [OpaquePointer], _ key: OpaquePointer) -> Value) -> Value {
        withExtendedLifetime(self) { body(certificates.map(\.handle.pointer), key.pointer) }
    }

    private static func ordered(_ certificates: [Certificate], from place: Int) -> [Certificate] {
        var rest = certificates
        var chain = [rest.remove(at: place)]
        while let last = chain.last, let next = rest.firstIndex(where: { $0.subject == last.issuer && last.isSigned(by: $0) }) {
            chain.append(rest.remove(at: next))
        }
        return chain + rest
    }
}

/// The facts of a private key.
public struct PrivateKeyFacts: Sendable, Hashable {
    /// The end of a sentence about an RSA key below 2048 bits; `nil`: nothing is to be said.
    public let weakness: String?

    /// - Returns: `nil` where there is no private key that can be read.
    public init?(pem: String) {
        guard let key = try? KeyHandle.privateKey(pem: pem) else { return nil }
        self.init(key)
    }

    init(_ key: KeyHandle) {
        weakness =
            key.typeName == "RSA" && key.bitCount < 2048
            ? "is RSA of \(key.bitCount) bits, which clients refuse below 2048; make another, and get a certificate for it" : nil
    }
}

/// A certificate and the private key that belongs to it.
public struct CertifiedKey: Sendable {
    public let certificate: Certificate
    public let key: PrivateKey

    /// - Throws: `CryptographyError.wrongKeyType` when they do not belong together.
    public init(certificate: Certificate, key: PrivateKey) throws(CryptographyError) {
        guard certificate.belongs(to: key) else { throw .wrongKeyType(expected: "the one in certificate \(certificate.subject)", found: "another") }
        self.certificate = certificate
        self.key = key
    }

    /// - Throws: `CryptographyError`.
    public init(certificateFile: String, keyFile: String) throws(CryptographyError) {
        try self.init(certificate: Certificate(pemFile: certificateFile), key: PrivateKey(pemFile: keyFile))
    }

    /// A self-signed certificate, for peers that pin it.
    /// - Parameters:
    ///   - commonName: 1 to 64 characters.
    ///   - key: A fresh P-256 key when absent.
    /// - Throws: `CryptographyError`.
    public static func selfSigned(
        commonName: String, key: PrivateKey? = nil, usage: CertificateUsage = .signing, names: CertificateNames = CertificateNames(),
        validity: CertificateValidity = .days(365)
    ) throws(CryptographyError) -> CertifiedKey {
        let key: PrivateKey = if let key { key } else { .p256(try .generate()) }
        let order = CertificateOrder(commonName: commonName, key: key, usage: usage, names: names, validity: validity)
        return try CertifiedKey(certificate: order.issue(by: nil), key: key)
    }
}

/// The content of a new certificate.
struct CertificateOrder {
    /// RFC 5280 §4.1.2.2 allows 20 bytes; 16 random ones never repeat.
    private static let serialByteCount = 16

    var commonName: String
    var key: PrivateKey
    var usage: CertificateUsage
    var names: CertificateNames
    var validity: CertificateValidity

    /// - Parameter issuer: `nil` for a self-signed certificate.
    func issue(by issuer: CertifiedKey?) throws(CryptographyError) -> Certificate {
        guard (1...64).contains(commonName.unicodeScalars.count) else { throw .malformed("common name") }
        guard validity.notBefore < validity.notAfter else { throw .malformed("validity: it ends before it begins") }
        let alternatives = try alternativeNames()
        defer { boxoffice_names_free(alternatives) }
        var serial = SecureRandom.bytes(Self.serialByteCount)
        serial[0] = serial[0] & 0x7F | 0x40
        let pointer = commonName.withCString { name in
            serial.withUnsafeBufferPointer { serial in
                var request = BoxofficeCertificateRequest()
                request.issuer = issuer?.certificate.handle.pointer
                request.issuer_key = (issuer?.key ?? key).handle.pointer
                request.subject_key = key.handle.pointer
                request.common_name = name
                request.alternative_names = alternatives
                request.profile = usage.profile
                request.not_before = validity.notBefore.seconds
                request.not_after = validity.notAfter.seconds
                request.serial = serial.baseAddress
                request.serial_length = serial.count
                return boxoffice_issue_certificate(&request)
            }
        }
        guard let pointer else { throw .last("issuing a certificate") }
        return try Certificate(handle: CertificateHandle(owning: pointer))
    }

    /// - Returns: A list that the caller frees.
    private func alternativeNames() throws(CryptographyError) -> OpaquePointer? {
        let list = boxoffice_names_new()
        for name in names.dns {
            guard Self.isDNSName(name), boxoffice_names_add_dns(list, name) == 1 else {
                boxoffice_names_free(list)
                throw .malformed("DNS name \(name)")
            }
        }
        for address in names.addresses {
            guard boxoffice_names_add_address(list, address) == 1 else {
                boxoffice_names_free(list)
                ERR_clear_error()
                throw .malformed("IP address \(address)")
            }
        }
        return list
    }

    private static func isDNSName(_ name: String) -> Bool {
        (1...253).contains(name.utf8.count) && name.unicodeScalars.allSatisfy(dnsCharacters.contains)
    }

    private static let dnsCharacters = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-*".unicodeScalars)
}
