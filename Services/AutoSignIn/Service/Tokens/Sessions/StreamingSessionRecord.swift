internal import Clocks
internal import Contracts

/// A device that was let in by Automatic Sign-In or by Sign in with Apple; its authn token is kept by `authentication` (apple §1.4).
struct StreamingSessionRecord: Hashable, Sendable {
    /// The id of the authn token, where there is one.
    let id: StreamingSessionID
    let account: AccountID
    let programmer: ProgrammerID
    let requestor: RequestorID
    let device: DeviceID
    let deviceLabel: String
    let client: ClientID
    let origin: StreamingSessionOrigin
    var scopes: [String] = StreamingSessionRecord.streamingScopes
    /// Whether there is an authn token behind it.
    var hasTVSession = true
    let createdAt: Timestamp
    var lastUsedAt: Timestamp
    let expiresAt: Timestamp

    /// What a person who is not there may do (apple §1.2).
    static let streamingScopes = ["stream:play", "stream:progress", "watchlist:read", "watchlist:write"]
    /// A session that nobody uses ends (apple §4).
    static let idleLimit: Duration = .seconds(30 * 86_400)

    func isLive(_ now: Timestamp) -> Bool { now < expiresAt && now < lastUsedAt + Self.idleLimit }
}

/// How a person came into a session.
enum StreamingSessionOrigin: Hashable, Sendable {
    /// `acr = auto`: by a value of the family.
    case automatic(FamilyID)
    /// By Sign in with Apple, through one of the link's client ids.
    case apple(AppleLinkID, AppleClientID)

    var context: SessionContext {
        switch self {
        case .automatic: .auto
        case .apple: .apple
        }
    }

    var family: FamilyID? {
        if case .automatic(let family) = self { family } else { nil }
    }
}

extension StreamingSession {
    init(_ record: StreamingSessionRecord, tv: AutomaticSession?) {
        self.init(
            id: record.id.text, accountID: record.account.text, context: record.origin.context, scopes: record.scopes,
            expiresAtMilliseconds: UInt64(clamping: record.expiresAt.milliseconds), tv: tv)
    }
}
