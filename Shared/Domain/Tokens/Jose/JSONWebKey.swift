public import Cryptography
internal import FoundationEssentials
internal import StrictJson

/// A public key that verifies JWS, with its name.
public struct JSONWebKey: Sendable {
    /// `kid`.
    public let identifier: String
    public let publicKey: PublicKey
    /// `alg`; without one, what is usual for the kind of key.
    public let algorithm: JWSAlgorithm
    /// True when `identifier` is a `kid`; otherwise it is the key's thumbprint.
    let isNamed: Bool
    private let namesAlgorithm: Bool

    /// - Parameters:
    ///   - identifier: `nil` takes the key's thumbprint (RFC 7638).
    ///   - algorithm: The only one that the key is for; `nil`: every one that fits its kind. It must fit.
    public init(_ publicKey: PublicKey, identifier: String? = nil, algorithm: JWSAlgorithm? = nil) {
        self.publicKey = publicKey
        self.identifier = identifier ?? Self.thumbprint(publicKey)
        isNamed = identifier != nil
        self.algorithm = algorithm ?? Self.algorithms(of: publicKey)[0]
        namesAlgorithm = algorithm != nil
    }

    /// Those that fit a kind of key, the usual one first.
    static func algorithms(of key: PublicKey) -> [JWSAlgorithm] {
        switch key {
        case .p256: [.es256]
        case .rsa: [.rs256, .ps256]
        }
    }

    /// True when the key may be used with the algorithm: the key decides, never the token (RFC 8725 §3.1).
    func serves(_ algorithm: JWSAlgorithm) -> Bool {
        namesAlgorithm ? algorithm == self.algorithm : Self.algorithms(of: publicKey).contains(algorithm)
    }

    func isValid(_ signature: [UInt8], for bytes: [UInt8], by algorithm: JWSAlgorithm) -> Bool {
        switch (publicKey, algorithm) {
        case (.p256(let key), .es256): key.isValid(signature, for: bytes)
        case (.rsa(let key), .rs256): key.isValid(signature, for: bytes)
        case (.rsa(let key), .ps256): key.isValid(signature, for: bytes, scheme: .pss)
        default: false
        }
    }

    /// RFC 7638: SHA-256 of the required members in alphabetical order, Base64url.
    static func thumbprint(_ key: PublicKey) -> String {
        let members = Members(key)
        let text =
            switch key {
            case .p256: #"{"crv":"P-256","kty":"EC","x":"\#(members.x ?? "")","y":"\#(members.y ?? "")"}"#
            case .rsa: #"{"e":"\#(members.e ?? "")","kty":"RSA","n":"\#(members.n ?? "")"}"#
            }
        return Base64.url.encode(SHA256.hash(text))
    }
}

extension JSONWebKey {
    /// The members of a JWK (RFC 7517 §4, RFC 7518 §6) that are used here.
    struct Members: Encodable {
        var kty: String
        var kid: String?
        var alg: String?
        var use: String?
        var crv: String?
        var x: String?
        var y: String?
        var n: String?
        var e: String?

        init(kty: String, kid: String?, alg: String?, crv: String?, x: String?, y: String?, n: String?, e: String?) {
            self.kty = kty
            self.kid = kid
            self.alg = alg
            self.crv = crv
            self.x = x
            self.y = y
            self.n = n
            self.e = e
        }

        init(_ key: PublicKey) {
            switch key {
            case .p256(let key):
                let (x, y) = key.coordinates
                kty = "EC"
                crv = "P-256"
                self.x = Base64.url.encode(x)
                self.y = Base64.url.encode(y)
            case .rsa(let key):
                kty = "RSA"
                n = Base64.url.encode(key.modulus)
                e = Base64.url.encode(key.exponent)
            }
        }
    }

    var members: Members {
        var members = Members(publicKey)
        members.kid = identifier
        members.alg = algorithm.rawValue
        members.use = "sig"
        return members
    }

    /// - Returns: `nil` for a key of another kind or use, or that another party wrote otherwise than RFC 7517 has it: to be ignored, as its §5 requires.
    /// - Throws: `CryptographyError` when a key of our kind is broken or too weak.
    static func read(_ entry: TokenObject) throws(CryptographyError) -> JSONWebKey? {
        let members: Members
        do throws(TokenRejection) {
            guard let kty = try entry.text("kty"), try isForVerification(entry) else { return nil }
            // The name is a string where there is one (RFC 7517 §4.5).
            members = Members(
                kty: kty, kid: try entry.text("kid"), alg: try entry.text("alg"), crv: try entry.text("crv"), x: try entry.text("x"),
                y: try entry.text("y"), n: try entry.text("n"), e: try entry.text("e"))
        } catch {
            return nil
        }
        let algorithm = members.alg.flatMap(JWSAlgorithm.init)
        guard members.alg == nil || algorithm != nil else { return nil }
        let key: PublicKey
        switch members.kty {
        case "EC" where members.crv == "P-256": key = .p256(try P256PublicKey(x: number(members.x), y: number(members.y)))
        case "RSA": key = .rsa(try RSAPublicKey(modulus: number(members.n), exponent: number(members.e)))
        default: return nil
        }
        guard algorithm.map(algorithms(of: key).contains) ?? true else { return nil }
        return JSONWebKey(key, identifier: members.kid, algorithm: algorithm)
    }

    /// `use` (RFC 7517 §4.2) and `key_ops` (§4.3) may say that it is for something else.
    private static func isForVerification(_ entry: TokenObject) throws(TokenRejection) -> Bool {
        guard try entry.text("use") ?? "sig" == "sig" else { return false }
        guard let operations = entry["key_ops"] else { return true }
        guard case .array(let nodes) = operations.content else { throw .malformed }
        return nodes.contains { if case .string("verify") = $0.content { true } else { false } }
    }

    private static func number(_ text: String?) throws(CryptographyError) -> [UInt8] {
        guard let text, let bytes = Base64.url.decode(text), !bytes.isEmpty else { throw .malformed("JWK") }
        return bytes
    }
}

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
