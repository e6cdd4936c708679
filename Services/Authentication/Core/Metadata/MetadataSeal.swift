internal import Catalogue
internal import Clocks
internal import Contracts
internal import Cryptography
internal import Foundation

/// Encrypts values to a programmer's certificate (rest-v1 §8).
struct MetadataSeal: Hashable, Sendable {
    /// Why a value is left out: it is never told in clear.
    enum Obstacle: String, Error {
        case noCertificate = "no_certificate"
        case tooLong = "too_long"
        case failed = "failed"
    }

    private let certificate: Cryptography.Certificate?
    private let padding: RSAEncryptionPadding

    init(_ certificate: Cryptography.Certificate?, _ encryption: MetadataEncryption) {
        self.certificate = certificate
        padding = encryption == .pkcs1V15 ? .pkcs1v15 : .oaepSHA256
    }

    init(of requestor: Requestor, in catalogue: Catalogue, now: Timestamp) {
        self.init(catalogue.metadataCertificate(of: requestor, now: now), catalogue.metadataEncryption(of: requestor))
    }

    /// - Returns: Base64 of one RSA block over the value's UTF-8 text.
    func seal(_ value: MetadataEntry.Value) throws(Obstacle) -> String {
        guard let certificate, case .rsa(let key) = try? certificate.publicKey() else { throw .noCertificate }
        let text = Array(value.plaintext.utf8)
        guard text.count <= key.longestPlaintext(padding) else { throw .tooLong }
        do {
            return Base64.standard.encode(try key.encrypt(text, padding: padding))
        } catch {
            throw .failed
        }
    }
}

extension MetadataEntry.Value {
    /// A text as it is: the programmer expects the value, not a literal of it. Anything else as JSON.
    var plaintext: String {
        switch self {
        case .text(let text): text
        case .flag(let flag): flag ? "true" : "false"
        case .number(let number): String(number)
        case .list(let list): Self.json(list.values)
        case .map(let map): Self.json(Dictionary(map.entries.map { ($0.key, $0.value) }) { first, _ in first })
        }
    }

    private static func json(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts, alone and in lists and objects, always encode.
        return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
