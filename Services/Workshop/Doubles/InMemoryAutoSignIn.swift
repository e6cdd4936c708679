internal import Catalogue
public import ContractRuntime
public import Contracts
internal import Cryptography
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

/// Sign in with Apple: the double accepts any identity token that comes with a nonce of its own.
extension InMemoryAutoSignIn: SignInWithApple {
    public func createNonce(_ request: CreateNonceRequest, context: CallContext) async throws -> Nonce {
        let (caller, _) = try caller(request.call)
        return Nonce(nonce: DerivedIdentity.digest("nonce", caller.clientID, caller.deviceID), expiresAtMilliseconds: now + 300_000)
    }

    public func signIn(_ request: AppleSignInRequest, context: CallContext) async throws -> AppleSignInOutcome {
        let (caller, _) = try caller(request.call)
        try prove(caller, request.identityToken, nonce: request.nonce)
        let person = sessions.subject(device: caller.deviceID, requestor: caller.requestor).session ?? Session()
        let account = Self.account(person.userID)
        let isNew = link(account)
        let session = try streaming(request.call, account: account, userID: person.userID, mvpd: person.mvpd, as: .apple)
        return AppleSignInOutcome(outcome: .signedIn(AppleSignedIn(session: session, isNew: isNew, realUserPolicy: .skipChecks)))
    }

    public func linkApple(_ request: LinkAppleRequest, context: CallContext) async throws -> AppleLink {
        let (caller, account) = try caller(request.call)
        guard let account else { throw Fault(.authenticationSessionMissing, "The device has no session.") }
        try prove(caller, request.identityToken, nonce: request.nonce)
        _ = link(account)
        return books.withLock { $0.links[Self.linkID(account)]?.contract } ?? AppleLink()
    }

    public func unlinkApple(_ request: UnlinkAppleRequest, context: CallContext) async throws -> UnlinkAppleResponse {
        let account = try account(of: request.caller) ?? ""
        books.withLock { _ = $0.links.removeValue(forKey: Self.linkID(account)) }
        return UnlinkAppleResponse()
    }

    public func receiveNotification(_ request: AppleNotification, context: CallContext) async throws -> AppleNotificationResponse {
        guard request.payload.split(separator: ".", omittingEmptySubsequences: false).count == 3 else {
            throw Fault(.appleNotificationInvalid, "The notification is no signed token.")
        }
        return AppleNotificationResponse(hadEffect: false)
    }

    public func startWebSignIn(_ request: StartWebSignInRequest, context: CallContext) async throws -> WebSignInStart {
        _ = try sessions.config.catalogue.requireRequestor(request.requestor)
        let number = numbers.next()
        let state = DerivedIdentity.digest("web-state", "\(number)")
        let secret = DerivedIdentity.digest("web-secret", "\(number)")
        books.withLock { $0.webSignIns[state] = (secret, request.requestor, request.returnURL) }
        return WebSignInStart(
            url: "\(sessions.behaviour.publicOrigin)/devices?state=\(state)", browserSecret: secret, expiresInSeconds: 600)
    }

    public func completeWebSignIn(_ request: CompleteWebSignInRequest, context: CallContext) async throws -> WebSignInOutcome {
        let started = books.withLock { $0.webSignIns.removeValue(forKey: request.state) }
        guard let started, started.secret == request.browserSecret else {
            throw Fault(.stateInvalid, "The answer belongs to no sign-in of this browser.")
        }
        guard request.error.isEmpty else { return WebSignInOutcome(outcome: .cancelled(WebCancelled(returnURL: started.returnURL))) }
        let secret = DerivedIdentity.digest("web", "\(numbers.next())")
        let account = Self.account(DerivedIdentity.digest("user", request.identityToken))
        books.withLock { $0.browsers[secret] = (account, started.requestor) }
        let isNew = link(account)
        let session = WebSession(secret: secret, expiresInSeconds: 1800, requestor: started.requestor)
        return WebSignInOutcome(outcome: .signedIn(WebSignedIn(session: session, returnURL: started.returnURL, isNew: isNew)))
    }

    private func prove(_ caller: IdentifiedCaller, _ identityToken: String, nonce: String) throws(Fault) {
        guard !identityToken.isEmpty else { throw Fault(.appleTokenMalformed, "The identity token is absent.") }
        guard nonce == DerivedIdentity.digest("nonce", caller.clientID, caller.deviceID) else {
            throw Fault(.appleNonceMismatch, "The nonce is not this device's.")
        }
    }

    /// - Returns: True when there was no link before.
    private func link(_ account: String) -> Bool {
        let moment = now
        let id = Self.linkID(account)
        return books.withLock { books in
            guard books.links[id] == nil else { return false }
            let contract = AppleLink(
                id: id, teamID: "DOUBLE0000", accountID: account, state: .active, authorizedAtMilliseconds: moment, isMailAllowed: true)
            books.links[id] = Link(contract: contract)
            return true
        }
    }

    private static func linkID(_ account: String) -> String { DerivedIdentity.uuid("apple-link", account) }
}

/// Counts from 1, for ids that are the same in each run.
final class Counter: Sendable {
    private let value = Atomic<UInt64>(0)

    init() {}

    func next() -> UInt64 { value.add(1, ordering: .relaxed).newValue }

    var count: UInt64 { value.load(ordering: .relaxed) }
}

/// Ids that follow from what they are for: the same in each run, without anything being remembered.
enum DerivedIdentity {
    /// 64 lower-case hex digits.
    static func digest(_ kind: String, _ parts: String...) -> String {
        Hex.encode(SHA256.hash(([kind] + parts).joined(separator: "\u{1f}")))
    }

    /// In the form of a UUID.
    static func uuid(_ kind: String, _ parts: String...) -> String {
        let digits = Hex.encode(SHA256.hash(([kind] + parts).joined(separator: "\u{1f}")).prefix(16))
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }

    private static let letters = Array("ABCDEFGHJKMNPQRSTUVWXYZ23456789".utf8)
    private static let codes: UInt64 = 27_512_614_111

    /// The registration code of that number, 7 characters; all numbers below 27 billion give different codes.
    static func registrationCode(_ number: UInt64) -> String {
        var rest = ((number % codes) &* 15_485_863 &+ 7_919_000_003) % codes
        var characters: [UInt8] = []
        for _ in 0..<7 {
            characters.append(letters[Int(rest % 31)])
            rest /= 31
        }
        return String(decoding: characters, as: UTF8.self)
    }
}
