internal import FoundationEssentials

/// What the log keeps of a call: its parameters, with a hash in place of every secret.
struct LoggedFields: Sendable {
    private static let secrets: Set<String> = [
        "client_secret", "code", "refresh_token", "token", "access_token", "id_token", "existingAutoSignInTokenValue", "newAutoSignInTokenValue",
        "autoSignInTokenValue", "value", "context", "nonce", "state", "transaction",
    ]
    /// Claims of the caller's own JWT that are not secret.
    private static let claims = ["iss", "sub", "aud", "bid", "iat", "exp"]

    private(set) var fields: [String: String] = [:]
    /// JWTs of the caller.
    private(set) var credentials: [String] = []

    init(_ request: AppleRequest) {
        add(form: request.query)
        switch request.contentType {
        case "application/x-www-form-urlencoded": add(form: String(decoding: request.body, as: UTF8.self))
        case "application/json": add(json: request.body)
        default: break
        }
        if let bearer = request.bearer { add(credential: bearer, as: "bearer") }
    }

    /// The replacement for a secret: `sha256:` and 64 hexadecimal digits.
    static func hash(_ secret: String) -> String { "sha256:" + Hexadecimal.text(Digest.sha256(Array(secret.utf8))) }

    private mutating func add(form text: String) {
        let form = FormFields(encoded: text)
        for name in form.names { add(name, ((try? form.single(name)) ?? nil) ?? "?") }
    }

    private mutating func add(json octets: [UInt8]) {
        let members = try? JSONDecoder().decode([String: AppleClaim].self, from: Data(octets))
        for (name, value) in members ?? [:] { if let text = value.text { add(name, text) } }
    }

    private mutating func add(_ name: String, _ value: String) {
        if name == "client_secret" { return add(credential: value, as: name) }
        fields[String(name.prefix(100))] = Self.secrets.contains(name) ? Self.hash(value) : String(value.prefix(500))
    }

    private mutating func add(credential: String, as name: String) {
        fields[name] = Self.hash(credential)
        credentials.append(credential)
        guard let token = CompactToken(credential) else { return }
        for claim in Self.claims {
            fields["\(name).\(claim)"] = token.claims[claim].flatMap { $0.text ?? $0.number.map(String.init) }
        }
        fields["\(name).kid"] = token.header["kid"]?.text
    }
}
