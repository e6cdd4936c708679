/// Every secret that the stand-in sent or received, so that tests can search logs and files for them.
struct IssuedSecrets: Sendable, Encodable {
    private static let limit = 20_000

    private(set) var codes: [String] = []
    private(set) var refreshTokens: [String] = []
    private(set) var accessTokens: [String] = []
    private(set) var identityTokens: [String] = []
    /// Client secrets and bearer tokens that callers sent.
    private(set) var credentials: [String] = []
    /// Values of Automatic Sign-In.
    private(set) var values: [String] = []

    mutating func add(code: String) { Self.append(code, to: &codes) }
    mutating func add(refreshToken: String) { Self.append(refreshToken, to: &refreshTokens) }
    mutating func add(accessToken: String) { Self.append(accessToken, to: &accessTokens) }
    mutating func add(identityToken: String) { Self.append(identityToken, to: &identityTokens) }
    mutating func add(credential: String) { Self.append(credential, to: &credentials) }
    mutating func add(value: String) { Self.append(value, to: &values) }

    private static func append(_ secret: String, to list: inout [String]) {
        if list.count < limit, list.last != secret { list.append(secret) }
    }
}
