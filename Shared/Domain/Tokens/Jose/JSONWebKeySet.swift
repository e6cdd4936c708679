public import Cryptography
internal import FoundationEssentials
internal import StrictJson

/// Public keys by name (RFC 7517 §5).
public struct JSONWebKeySet: Sendable {
    public let keys: [JSONWebKey]
    /// Names of keys of a kind that is used, but too weak to be.
    public let weak: Set<OctetText>
    private let byIdentifier: [OctetText: [JSONWebKey]]

    /// - Parameter keys: Several may have one name.
    public init(keys: [JSONWebKey]) { self.init(keys: keys, weak: []) }

    private init(keys: [JSONWebKey], weak: Set<OctetText>) {
        self.keys = keys
        self.weak = weak
        byIdentifier = Dictionary(texts: keys.map { ($0.identifier, [$0]) }) { $0 + $1 }
    }

    /// A set that the operator wrote: keys of kinds other than P-256 and RSA are ignored; a key without `kid` is named by its thumbprint.
    /// - Throws: `CryptographyError.malformed` when the text is no JWK set, and the error of a broken or weak key.
    public init(json: String) throws(CryptographyError) {
        var keys: [JSONWebKey] = []
        for node in try Self.entries(Array(json.utf8)) {
            if let entry = TokenObject(node), let key = try JSONWebKey.read(entry) { keys.append(key) }
        }
        self.init(keys: keys)
    }

    /// A set that another party publishes. Each entry is read by itself, and unusable ones are skipped (RFC 7517 §5), so that the other keys stay
    /// usable. Such an entry has another kind or curve, a member that is missing or of another type, or a broken or weak key.
    /// - Throws: `CryptographyError.malformed` when the text is no JWK set.
    public init(published json: String) throws(CryptographyError) { try self.init(published: Array(json.utf8)) }

    /// As `init(published:)` of a text.
    /// - Parameter octets: UTF-8.
    public init(published octets: [UInt8]) throws(CryptographyError) {
        var keys: [JSONWebKey] = []
        var weak: Set<OctetText> = []
        for node in try Self.entries(octets) {
            guard let entry = TokenObject(node) else { continue }
            do throws(CryptographyError) {
                if let key = try JSONWebKey.read(entry) { keys.append(key) }
            } catch {
                if case .weakKey = error, let name = try? entry.text("kid") { weak.insert(OctetText(name)) }
            }
        }
        self.init(keys: keys, weak: weak)
    }

    private static func entries(_ octets: [UInt8]) throws(CryptographyError) -> [JsonNode] {
        guard let document = TokenObject(octets), case .array(let entries)? = document["keys"]?.content else { throw .malformed("JWK set") }
        return entries
    }

    /// The first key with that `kid`, compared octet by octet; `nil` when there is none.
    public func key(_ identifier: String) -> JSONWebKey? { byIdentifier[OctetText(identifier)]?.first }

    /// All keys with that `kid`, in the order of the set.
    public func keys(named identifier: String) -> [JSONWebKey] { byIdentifier[OctetText(identifier)] ?? [] }

    /// Keys that a token may be of, as far as names tell.
    /// - Parameters:
    ///   - name: `kid` of its header.
    ///   - acceptsUnnamed: Without it only keys of that name are.
    func candidates(for name: String?, acceptsUnnamed: Bool) -> [JSONWebKey] {
        guard let name else { return acceptsUnnamed ? keys : [] }
        let named = keys(named: name)
        return named.isEmpty && acceptsUnnamed ? keys.filter { !$0.isNamed } : named
    }

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
