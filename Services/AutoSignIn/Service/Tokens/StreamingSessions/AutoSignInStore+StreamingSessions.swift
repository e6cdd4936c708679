internal import Clocks
internal import Contracts
internal import Faults
internal import Storage

/// The sessions of devices, of all accounts; each call throws faults of the storage.
extension AutoSignInStore {
    func session(_ id: StreamingSessionID) async throws(Fault) -> StreamingSessionRecord? {
        let epoch: CoherentCache<StreamingSessionID, StreamingSessionRecord>.Epoch
        switch sessions.lookup(id) {
        case .hit(let session): return session
        case .miss(let current): epoch = current
        }
        let found = try await store.first(StreamingSessionRecord.byID, [id]) { StreamingSessionRecord(columns: &$0) }
        if let found { sessions.offer(found, for: id, readIn: epoch) }
        return found
    }

    /// The one without an authn token that this client has on the device at the requestor.
    func sessionWithoutTV(device: DeviceID, requestor: RequestorID, client: ClientID) async throws(Fault) -> StreamingSessionRecord? {
        try await store.first(StreamingSessionRecord.withoutTV, [device, requestor, client]) { StreamingSessionRecord(columns: &$0) }
    }

    /// Latest first.
    func sessions(of account: AccountID) async throws(Fault) -> [StreamingSessionRecord] {
        try await store.all(StreamingSessionRecord.ofAccount, [account]) { StreamingSessionRecord(columns: &$0) }
    }
}

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
    /// True when there is an authn token behind it.
    var hasTVSession = true
    let createdAt: Timestamp
    var lastUsedAt: Timestamp
    let expiresAt: Timestamp

    /// The scopes of a person who is not there (apple §1.2).
    static let streamingScopes = ["stream:play", "stream:progress", "watchlist:read", "watchlist:write"]
    /// A session that nobody uses ends (apple §4).
    static let idleLimit: Duration = .seconds(30 * 86_400)

    func isLive(_ now: Timestamp) -> Bool { now < expiresAt && now < lastUsedAt + Self.idleLimit }
}

/// A person came into a session in one of these ways.
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
