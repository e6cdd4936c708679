internal import Cryptography
internal import Faults
internal import Identifiers

enum TokenValueSubject {}

/// `asi1.<id>.<secret>`, 71 characters: 16 random bytes to look it up by, 32 that prove it (apple §1.2). Prints as `[hidden]`.
struct TokenValue: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    static let length = 71
    private static let prefix = "asi1."
    private static let idLength = 22
    private static let secretLength = 43

    let text: String
    let id: TokenID
    let secret: Secret<TokenValueSubject>

    static func random(from source: any RandomSource) -> TokenValue {
        TokenValue(id: TokenID(Base64.url.encode(source.bytes(16))), secret: .random(from: source))
    }

    private init(id: TokenID, secret: Secret<TokenValueSubject>) {
        self.id = id
        self.secret = secret
        text = "\(Self.prefix)\(id.text).\(secret.text)"
    }

    /// - Returns: `nil` for anything that was never a value.
    init?(_ text: String) {
        guard text.utf8.count == Self.length, text.hasPrefix(Self.prefix) else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1].utf8.count == Self.idLength, parts[2].utf8.count == Self.secretLength,
            (parts[1].utf8 + Array(parts[2].utf8)).allSatisfy(Self.isBase64URL)
        else { return nil }
        self.init(id: TokenID(String(parts[1])), secret: Secret(String(parts[2])))
    }

    var description: String { "[hidden]" }
    var customMirror: Mirror { Mirror(self, children: []) }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
    }
}

/// How values are kept: a keyed digest to compare with, and the sealed whole for the calls to Apple that need it (apple §1.2).
struct ValueSeal: Sendable {
    private let seal: TokenSeal
    private let keys: AutoSignInKeys

    init(_ keys: AutoSignInKeys) {
        seal = keys.seal(for: .values)
        self.keys = keys
    }

    /// To be kept, by the current key.
    func comparison(_ secret: Secret<TokenValueSubject>) -> Digest { Self.digest(secret, keys.key(for: .comparison)) }

    /// Whether a kept digest is the secret's, by whichever key it was made. All keys are tried, so that it takes the same time for every secret.
    func matches(_ kept: Digest, _ secret: Secret<TokenValueSubject>) -> Bool {
        var isRight = false
        for key in keys.keys(for: .comparison) where kept.equals(Self.digest(secret, key)) { isRight = true }
        return isRight
    }

    private static func digest(_ secret: Secret<TokenValueSubject>, _ key: SymmetricKey) -> Digest {
        Digest(bytes: HMACSHA256.authenticate(Array(secret.text.utf8), key: key))
    }

    /// - Throws: `internal`.
    func close(_ value: TokenValue) throws(Fault) -> SealedBytes { try seal.close(Array(value.text.utf8), "value", of: value.id.text) }

    /// - Returns: `nil` when it was thrown away, or sealed with another key.
    func open(_ version: TokenVersionRecord) -> TokenValue? {
        version.sealed.flatMap { seal.open($0, "value", of: version.id.text) }.flatMap { String(validating: $0, as: UTF8.self) }.flatMap(
            TokenValue.init)
    }
}
