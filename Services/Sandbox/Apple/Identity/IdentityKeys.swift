internal import FoundationEssentials
internal import Hummingbird
internal import Memos
internal import SandboxKit

/// The key set that identity tokens are checked with, and which key signs (apple §2.1).
struct IdentityKeys: Sendable {
    struct Key: Sendable {
        /// 10 characters.
        let id: String
        let key: SandboxSigningKey
        /// RFC 7517.
        let jwk: String
    }

    /// The number of keys that the set may hold.
    static let sizes = 2...4
    private static let firstSize = 3

    /// In the order of the set.
    private(set) var published: [Key] = []
    /// Keys that are not, or no longer, in the set.
    private(set) var unpublished: [Key] = []
    private(set) var signingID = ""

    init(_ octets: inout RepeatableOctets) throws(XmlRejection) {
        for _ in 0..<Self.firstSize { published.append(try Self.make(&octets)) }
        signingID = published[0].id
    }

    var signing: Key { key(signingID) ?? published[0] }

    /// `{"keys": […]}`.
    var document: String { #"{"keys":[\#(published.map(\.jwk).joined(separator: ","))]}"# }

    var tag: String { "\"" + Hexadecimal.text(Digest.sha256(Array(document.utf8)).prefix(16)) + "\"" }

    func key(_ id: String) -> Key? { (published + unpublished).first { $0.id == id } }

    /// Puts a new key into the set; the one that signs stays.
    mutating func add(_ octets: inout RepeatableOctets) throws -> Key {
        guard published.count < Self.sizes.upperBound else { throw KeySetRejection.full }
        let key = try Self.make(&octets)
        published.append(key)
        return key
    }

    /// Lets a key of the set sign.
    mutating func promote(_ id: String) throws(KeySetRejection) {
        guard published.contains(where: { $0.id == id }) else { throw .unknown }
        signingID = id
    }

    /// Takes a key out of the set; if it signed, the first one left does.
    mutating func drop(_ id: String) throws(KeySetRejection) {
        guard let index = published.firstIndex(where: { $0.id == id }) else { throw .unknown }
        guard published.count > Self.sizes.lowerBound else { throw .small }
        unpublished.append(published.remove(at: index))
        if signingID == id { signingID = published[0].id }
    }

    /// Lets a new key sign that is not in the set.
    mutating func signUnpublished(_ octets: inout RepeatableOctets) throws -> Key {
        let key = try Self.make(&octets)
        unpublished.append(key)
        signingID = key.id
        return key
    }

    /// A key that is in no set and signs nothing else.
    func makeForeign(_ octets: inout RepeatableOctets) throws(XmlRejection) -> Key { try Self.make(&octets) }

    /// Adds a key that was not in the set.
    mutating func publish(_ id: String) throws(KeySetRejection) {
        guard let index = unpublished.firstIndex(where: { $0.id == id }) else { throw .unknown }
        guard published.count < Self.sizes.upperBound else { throw .full }
        published.append(unpublished.remove(at: index))
    }

    /// By their seeds: a sandbox that begins again with the same one makes none anew.
    private static let made = Memo<[UInt8], SandboxSigningKey>(capacity: 32)

    private static func make(_ octets: inout RepeatableOctets) throws(XmlRejection) -> Key {
        let seed = octets.next(32, for: "key")
        let key: SandboxSigningKey
        if let known = made[seed] {
            key = known
        } else {
            key = try SandboxSigningKey(seed: seed)
            made[seed] = key
        }
        let (modulus, exponent) = try key.publicNumbers()
        let id = String(Hexadecimal.text(Digest.sha256(modulus).prefix(5)).uppercased())
        let numbers = #""n":"\#(Base64.urlText(modulus))","e":"\#(Base64.urlText(exponent))""#
        return Key(id: id, key: key, jwk: #"{"kty":"RSA","kid":"\#(id)","use":"sig","alg":"RS256",\#(numbers)}"#)
    }
}

/// The key set stays as it is for one of these reasons.
enum KeySetRejection: String, Error {
    case unknown = "no such key is there"
    case full = "the set holds 4 keys already"
    case small = "the set keeps 2 keys at least"
}

/// A token is signed in one of these ways, well or badly.
enum TokenSignature: String, Sendable, Decodable {
    /// RS256 by the key that signs now.
    case good
    /// RS256 by a key that is in no set.
    case unpublished
    /// RS256 by the right key over another text.
    case broken
    /// `alg` is `none`, and there is no signature.
    case none
    /// HS256 with the public key's text as the secret.
    case symmetric
    /// `alg` is ES256, with 64 octets that are no signature.
    case elliptic

    var algorithm: String {
        switch self {
        case .good, .unpublished, .broken: "RS256"
        case .none: "none"
        case .symmetric: "HS256"
        case .elliptic: "ES256"
        }
    }

    /// - Parameters:
    ///   - key: The key that signs where one does.
    ///   - header: Goes over the members that the header has anyway; null leaves one out.
    func token(_ claims: [String: JsonValue], key: IdentityKeys.Key, header: [String: JsonValue] = [:]) throws -> String {
        let header = ["alg": .text(algorithm), "kid": .text(key.id)].merging(header) { $1 }
        let input = try Self.part(header) + "." + Self.part(claims)
        let octets = Array(input.utf8)
        let signature: [UInt8] =
            switch self {
            case .good, .unpublished: try key.key.sign(octets)
            case .broken: try key.key.sign(octets.reversed())
            case .none: []
            case .symmetric: Self.hmac(octets, secret: Array(key.jwk.utf8))
            case .elliptic: Digest.sha256(octets) + Digest.sha256(octets.reversed())
            }
        return input + "." + Base64.urlText(signature)
    }

    private static func part(_ members: [String: JsonValue]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Base64.urlText(Array(try encoder.encode(members.filter { $0.value != .null })))
    }

    /// RFC 2104 with SHA-256.
    private static func hmac(_ message: [UInt8], secret: [UInt8]) -> [UInt8] {
        let short = secret.count > 64 ? Digest.sha256(secret) : secret
        let key = short + [UInt8](repeating: 0, count: 64 - short.count)
        return Digest.sha256(key.map { $0 ^ 0x5c } + Digest.sha256(key.map { $0 ^ 0x36 } + message))
    }
}

/// `GET /auth/keys`.
struct KeysEndpoint: Sendable {
    let memory: AppleMemory

    func answer(_ request: AppleRequest) -> AppleAnswer {
        let (document, tag, age) = memory.access { ($0.keys.document, $0.keys.tag, $0.keysMaxAge) }
        let headers: HTTPFields = [.eTag: tag, .cacheControl: "max-age=\(age)"]
        if request.headers[.ifNoneMatch] == tag { return AppleAnswer(status: .notModified, headers: headers, outcome: "unchanged") }
        var answer = AppleAnswer(status: .ok, headers: headers, body: Array(document.utf8), outcome: "told")
        answer.headers[.contentType] = "application/json"
        return answer
    }
}

/// Octets for keys, ids and codes: the same seed gives the same ones in the same order, for each purpose by itself.
struct RepeatableOctets: Sendable {
    private let seed: [UInt8]
    private var counters: [String: UInt64] = [:]

    /// - Parameter seed: nil: nothing repeats.
    init(seed: String?) {
        var generator = SystemRandomNumberGenerator()
        self.seed = seed.map { Digest.sha256(Array($0.utf8)) } ?? (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    mutating func next(_ count: Int, for purpose: String) -> [UInt8] {
        let number = counters[purpose, default: 0]
        counters[purpose] = number + 1
        return derived(count, from: "\(purpose)#\(number)")
    }

    /// A new text of the URL alphabet without padding.
    mutating func text(_ count: Int, for purpose: String) -> String { Base64.urlText(next(count, for: purpose)) }

    /// Octets derived from the seed and a name: the same each time.
    func derived(_ count: Int, from name: String) -> [UInt8] {
        var octets: [UInt8] = []
        var block: UInt8 = 0
        while octets.count < count {
            octets += Digest.sha256(seed + Array(name.utf8) + [0, block])
            block += 1
        }
        return Array(octets.prefix(count))
    }
}

/// The names under which teams know people; they depend on the seed alone.
struct AppleNames: Sendable {
    let octets: RepeatableOctets

    /// `sub`: the same for all apps of a team, different in another one.
    func subject(_ account: String, team: String) -> String {
        let digits = octets.derived(24, from: "sub/\(team)/\(account)")
        let first = digits[16..<19].map { String($0 % 100 + 100).suffix(2) }.joined()
        let last = digits[19..<21].map { String($0 % 100 + 100).suffix(2) }.joined()
        return "\(first).\(Hexadecimal.text(digits[..<16])).\(last)"
    }

    /// `transfer_sub`: the person's name between two teams (apple §2.10).
    func transferSubject(_ account: String, from team: String, to target: String) -> String {
        let digits = octets.derived(21, from: "transfer/\(team)/\(target)/\(account)")
        return "\(String(digits[16] % 100 + 100).suffix(2))t.\(Hexadecimal.text(digits[..<16])).\(String(digits[17] % 100 + 100).suffix(2))"
    }

    /// The address that Apple forwards from, the same for one team.
    func relayAddress(_ account: String, team: String) -> String {
        let letters = octets.derived(10, from: "relay/\(team)/\(account)").map { String(UnicodeScalar(UInt8(ascii: "a") + $0 % 26)) }
        return letters.joined() + "@privaterelay.appleid.com"
    }
}
