internal import Clocks
internal import Contracts
internal import Faults
internal import Identifiers
internal import Storage

/// Browsers of people who were let in by their device, or by Sign in with Apple.
struct WebSessions: Sendable {
    let store: AutoSignInStore
    let clock: any WallClock
    let random: any RandomSource

    static let linkLifetime: Duration = .seconds(5 * 60)
    static let lifetime: Duration = .seconds(30 * 60)

    /// - Throws: Faults of the storage, here and below.
    func createLink(account: AccountID, programmer: ProgrammerID, requestor: RequestorID) async throws(Fault) -> WebLink {
        let handle = WebLinkHandle.random(from: random)
        let until = clock.now() + Self.linkLifetime
        try await store.store.write { try $0.insert(handle.digest, of: (account, programmer, requestor), until: until) }
        return WebLink(handle: handle.text, expiresInSeconds: UInt32(Self.linkLifetime.components.seconds))
    }

    /// - Throws: `state_invalid` when the link is unknown, used or over.
    func open(_ handle: WebLinkHandle) async throws(Fault) -> WebSession {
        let now = clock.now()
        let secret = WebSessionSecret.random(from: random)
        let requestor = try await store.store.write { database in
            guard let link = try database.takeLink(handle.digest, now: now) else { return RequestorID?.none }
            let caller = WebCaller(session: secret.digest, account: link.account, programmer: link.programmer, requestor: link.requestor)
            try database.insert(caller, until: now + Self.lifetime)
            return link.requestor
        }
        guard let requestor else { throw Fault(.stateInvalid, "The link is unknown, used or over.") }
        return Self.contract(secret, requestor)
    }

    /// For a person who has signed in with Apple on the web.
    func start(account: AccountID, programmer: ProgrammerID, requestor: RequestorID) async throws(Fault) -> WebSession {
        let secret = WebSessionSecret.random(from: random)
        let caller = WebCaller(session: secret.digest, account: account, programmer: programmer, requestor: requestor)
        let until = clock.now() + Self.lifetime
        try await store.store.write { try $0.insert(caller, until: until) }
        return Self.contract(secret, requestor)
    }

    func end(_ secret: WebSessionSecret) async throws(Fault) {
        try await store.endWebSession(secret.digest)
    }

    private static func contract(_ secret: WebSessionSecret, _ requestor: RequestorID) -> WebSession {
        WebSession(secret: secret.text, expiresInSeconds: UInt32(lifetime.components.seconds), requestor: requestor.text)
    }
}
