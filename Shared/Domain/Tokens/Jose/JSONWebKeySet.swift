public import Cryptography
internal import FoundationEssentials

/// Public keys by name (RFC 7517 §5).
public struct JSONWebKeySet: Sendable {
    public let keys: [JSONWebKey]
    private let byIdentifier: [OctetText: JSONWebKey]

    private struct Document: Codable {
        var keys: [JSONWebKey.Members]
    }

    /// - Parameter keys: Of two with the same name the first counts.
    public init(keys: [JSONWebKey]) {
        self.keys = keys
        byIdentifier = Dictionary(texts: keys.map { ($0.identifier, $0) }) { first, _ in first }
    }

    /// Keys of kinds other than P-256 and RSA are ignored; a key without `kid` is named by its thumbprint.
    /// - Throws: `CryptographyError.malformed` when the text is no JWK set, and the error of a broken or weak key.
    public init(json: String) throws(CryptographyError) {
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(json.utf8)) else { throw .malformed("JWK set") }
        var keys: [JSONWebKey] = []
        for members in document.keys {
            if let key = try JSONWebKey.read(members) { keys.append(key) }
        }
        self.init(keys: keys)
    }

    /// A set that another party publishes: broken or too weak keys are skipped as well, so that the other keys stay usable.
    /// - Throws: `CryptographyError.malformed` when the text is no JWK set.
    public init(published json: String) throws(CryptographyError) {
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(json.utf8)) else { throw .malformed("JWK set") }
        self.init(keys: document.keys.compactMap { members in (try? JSONWebKey.read(members)) ?? nil })
    }

    /// The key with that `kid`, compared octet by octet; `nil` when there is none.
    public func key(_ identifier: String) -> JSONWebKey? { byIdentifier[identifier] }

    /// The set as JSON text, members sorted.
    public var json: String { #"{"keys":[\#(keys.map(\.json).joined(separator: ","))]}"# }
}

extension JSONWebKey {
    /// The key as JSON text, members sorted.
    public var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings alone always encode.
        return String(decoding: (try? encoder.encode(members)) ?? Data("{}".utf8), as: UTF8.self)
    }
}
