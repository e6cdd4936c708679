internal import Clocks
internal import Contracts
internal import Faults
internal import Identifiers

/// An app on a device that calls, with what its session may do.
struct DeviceCaller: Sendable {
    let client: ClientID
    let programmer: ProgrammerID
    let requestor: RequestorID
    let device: DeviceID
    let deviceLabel: String
    /// The device's authn token, when it has a valid one.
    let login: CallerLogin?
    /// The record behind a session that was not made by a person at the MVPD.
    let streaming: StreamingSessionRecord?
    /// `nil`: no session, or one of a person who has no account yet.
    let account: AccountID?

    /// A person at the MVPD, at most so long ago, is fully authenticated (apple §1.2).
    static let freshness: Duration = .seconds(15 * 60)

    enum Standing: Hashable, Sendable {
        /// No session at all.
        case none
        /// `acr = auto`, or a session in which nobody in particular has signed in.
        case streamingOnly
        /// By Sign in with Apple, or a person who signed in at the MVPD.
        case person
    }

    var standing: Standing {
        if let streaming { return streaming.origin.context == .apple ? .person : .streamingOnly }
        guard let login else { return .none }
        switch login.kind {
        case .regular, .platform, .shared, .serviceToken: return .person
        case .automatic, .tempPass, .degraded, .unrecognized: return .streamingOnly
        }
    }

    /// The session's family when it came about by a value.
    var family: FamilyID? { streaming?.origin.family }

    /// The login with which a token may be issued (apple §1.2, §1.4). It is this device's, and its person was there at most 15 minutes ago, at the
    /// MVPD or by Sign in with Apple.
    /// - Throws: `session_not_fresh`.
    func freshLogin(now: Timestamp) throws(Fault) -> CallerLogin {
        if let login, let since = authenticatedAt(login), now - since <= Self.freshness { return login }
        throw Fault(.sessionNotFresh, "Sign in again, then ask once more within 15 minutes.")
    }

    private func authenticatedAt(_ login: CallerLogin) -> Timestamp? {
        switch login.kind {
        case .regular, .platform: login.authenticatedAt
        case .automatic: streaming.flatMap { $0.origin.context == .apple ? $0.createdAt : nil }
        case .shared, .serviceToken, .tempPass, .degraded, .unrecognized: nil
        }
    }

    /// The Apple link behind the session.
    var link: AppleLinkID? {
        if case .apple(let link, _) = streaming?.origin { link } else { nil }
    }

    /// The one place that keeps sessions for streaming away from the account (apple §4, I4).
    /// - Throws: `authentication_session_missing` without a session, `step_up_required` with one that is for streaming only.
    func requirePerson() throws(Fault) {
        switch standing {
        case .none: throw Fault(.authenticationSessionMissing, "The device has no session.")
        case .streamingOnly: throw Fault(.stepUpRequired, "This needs a full sign-in.")
        case .person: return
        }
    }
}

/// An authn token that is valid now.
struct CallerLogin: Hashable, Sendable {
    let session: StreamingSessionID
    let person: TVLogin
    let kind: SessionKind
    /// The person signed in at the MVPD at this time.
    let authenticatedAt: Timestamp
    let expiresAt: Timestamp
    /// The integration's flag.
    let allowsAutoSignIn: Bool
}

extension CallerLogin {
    init?(_ login: Login) {
        guard let session = login.session else { return nil }
        self.init(
            session: StreamingSessionID(session.id), person: TVLogin(session), kind: session.kind,
            authenticatedAt: Timestamp(milliseconds: Int64(clamping: login.authenticatedAtMilliseconds)),
            expiresAt: Timestamp(milliseconds: Int64(clamping: session.expiresAtMilliseconds)), allowsAutoSignIn: login.allowsAutoSignIn)
    }
}

/// A programmer's own backend.
struct BackendCaller: Hashable, Sendable {
    let client: ClientID
    let programmer: ProgrammerID
    let requestor: RequestorID
}

/// A browser whose person was let in by their device, or by Sign in with Apple.
struct WebCaller: Hashable, Sendable {
    let session: Digest
    let account: AccountID
    let programmer: ProgrammerID
    let requestor: RequestorID
}

enum CheckedCaller: Sendable {
    case device(DeviceCaller)
    case backend(BackendCaller)
    case web(WebCaller)

    var programmer: ProgrammerID {
        switch self {
        case .device(let caller): caller.programmer
        case .backend(let caller): caller.programmer
        case .web(let caller): caller.programmer
        }
    }

    var requestor: RequestorID {
        switch self {
        case .device(let caller): caller.requestor
        case .backend(let caller): caller.requestor
        case .web(let caller): caller.requestor
        }
    }

    /// - Throws: As `DeviceCaller.requirePerson`; others are persons, or speak for the programmer.
    func requirePerson() throws(Fault) {
        if case .device(let caller) = self { try caller.requirePerson() }
    }

    /// True when the account is the caller's, or of the programmer whose backend calls.
    func mayReach(_ account: AccountID, of programmer: ProgrammerID) -> Bool {
        guard programmer == self.programmer else { return false }
        return switch self {
        case .device(let caller): caller.account == account
        case .backend: true
        case .web(let caller): caller.account == account
        }
    }
}
