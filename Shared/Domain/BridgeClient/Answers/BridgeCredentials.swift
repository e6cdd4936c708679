public import Clocks
public import OutboundHttp
internal import StrictJson

/// The credentials that the upstream gave a registered client.
public struct BridgeCredentials: Hashable, Sendable {
    public let clientID: String
    /// Sealed wherever it is kept.
    public let clientSecret: String
    public let scopes: [String]

    private static let largest = 4096

    public init(clientID: String, clientSecret: String, scopes: [String]) {
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.scopes = scopes
    }

    /// Reads the answer to a registration. 200 counts as 201: both are seen.
    /// - Throws: `BridgeFailure`; `unusable` without an id or a secret.
    public init(_ answer: OutboundAnswer) throws(BridgeFailure) {
        let body = try BridgeAnswer.document(answer, accepted: [200, 201])
        guard let id = body["client_id"]?.string, (1...Self.largest).contains(id.utf8.count) else { throw .unusable("client_id is missing") }
        guard let secret = body["client_secret"]?.string, (1...Self.largest).contains(secret.utf8.count) else {
            throw .unusable("client_secret is missing")
        }
        // Listed as an array, or as OAuth writes scopes: with spaces.
        let scopes = body["scopes"].map { $0.elements == nil ? Self.words($0.string) : $0.strings } ?? Self.words(body["scope"]?.string)
        self.init(clientID: id, clientSecret: secret, scopes: scopes)
    }

    private static func words(_ text: String?) -> [String] { (text ?? "").split(separator: " ").map { String($0) } }
}

/// An upstream access token.
public struct BridgeBearer: Hashable, Sendable {
    public let token: String
    /// By our clock: the receipt, its life, and half a minute less.
    public let end: Timestamp
    /// It was given for this long.
    public let life: Duration

    private static let margin: Duration = .seconds(30)
    private static let largest = 16_384

    public init(token: String, end: Timestamp, life: Duration) {
        self.token = token
        self.end = end
        self.life = life
    }

    /// Reads the answer to a token request.
    /// - Parameter now: When it came.
    /// - Throws: `BridgeFailure`; `unusable` without a token or its life.
    public init(_ answer: OutboundAnswer, now: Timestamp) throws(BridgeFailure) {
        let body = try BridgeAnswer.document(answer, accepted: [200, 201])
        guard let token = body["access_token"]?.string, (1...Self.largest).contains(token.utf8.count),
            token.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { throw .unusable("access_token is missing") }
        guard let seconds = body["expires_in"]?.integer ?? body["expires_in"]?.string.flatMap({ Int64($0) }), seconds > 0 else {
            throw .unusable("expires_in is missing")
        }
        // A year is more than any token lives; beyond it nothing may be added up.
        let life = Duration.seconds(min(seconds, 31_536_000))
        self.init(token: token, end: now + life - Self.margin, life: life)
    }
}
