internal import Catalogue
internal import Contracts
internal import Faults
internal import Synchronization

/// Stands in for the autosignin service: families, values and Apple links in memory, without Apple.
public final class InMemoryAutoSignIn: Sendable {
    struct Family: Sendable {
        var contract: TokenFamily
        let account: String
        var value: String
        var version: UInt32 = 1
    }

    struct Link: Sendable {
        var contract: AppleLink
    }

    /// One lock for all of the state: opt-ins are rare compared with other calls.
    struct Books: Sendable {
        var families: [String: Family] = [:]
        var familyByValue: [String: String] = [:]
        var links: [String: Link] = [:]
        /// Handles of web links that are not opened, and secrets of web sessions: account and requestor.
        var handles: [String: (account: String, requestor: String)] = [:]
        var browsers: [String: (account: String, requestor: String)] = [:]
        var webSignIns: [String: (secret: String, requestor: String, returnURL: String)] = [:]
        /// The answer to a caller's idempotency key.
        var tokens: [String: IssuedToken] = [:]
    }

    let sessions: InMemoryAuthentication
    let books = Mutex(Books())
    let numbers = Counter()

    /// - Parameter sessions: Knows who calls and who is signed in.
    public init(sessions: InMemoryAuthentication) { self.sessions = sessions }

    var now: UInt64 { sessions.now }

    /// The caller and its account.
    func caller(_ call: DeviceCall?) throws(Fault) -> (caller: IdentifiedCaller, account: String?) {
        let caller = try sessions.identify(IdentifyCallerRequest(call: call))
        return (caller, caller.login?.session.map { Self.account($0.userID) })
    }

    static func account(_ userID: String) -> String { DerivedIdentity.uuid("account", userID) }

    /// The account that a caller may act for.
    /// - Throws: `authentication_session_missing` when a device has none; the faults of the caller.
    func account(of caller: Caller?) throws(Fault) -> String? {
        switch caller?.who {
        case .device(let call):
            guard let account = try self.caller(call).account else {
                throw Fault(.authenticationSessionMissing, "The device has no session.")
            }
            return account
        case .backend(let call):
            try sessions.requireBearer(call.accessToken)
            return nil
        case .webSession(let secret):
            guard let browser = books.withLock({ $0.browsers[secret] }) else { throw Fault(.accessDenied, "The browser's session is over.") }
            return browser.account
        case nil: throw Fault(.invalidRequest, "Nobody calls.")
        }
    }

    /// A session for the calling device, from a login of the account.
    func streaming(_ call: DeviceCall?, account: String, userID: String, mvpd: String, as context: SessionContext) throws(Fault) -> StreamingSession {
        let tv = try sessions.automaticSession(
            StartAutomaticSessionRequest(call: call, logins: [LoginReference(mvpd: mvpd, userID: userID)]))
        return StreamingSession(
            id: tv.session?.id ?? "", accountID: account, context: context, scopes: ["stream"],
            expiresAtMilliseconds: tv.session?.expiresAtMilliseconds ?? 0, tv: tv)
    }
}
