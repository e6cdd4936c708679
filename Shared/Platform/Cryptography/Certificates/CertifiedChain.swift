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
