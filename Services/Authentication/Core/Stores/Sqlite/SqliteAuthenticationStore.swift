internal import CoreMetrics
internal import Storage

/// The service's state in a store, which copies of the service may share.
final class SqliteAuthenticationStore: LivingStore {
    let store: Store
    private let ownLives = EntryLives()
    var lives: EntryLives? { ownLives }
    let clients: CoherentCache<ClientID, Client>
    let memory: SessionMemory
    /// A device that waits for its person polls by its code (rest-v2 §2.8). Whoever changes a code's row forgets it.
    let codes: CoherentCache<RegistrationCodeText, RegistrationRecord>
    /// What belongs to sessions that came by an upstream.
    let parts: CoherentCache<SessionID, BridgedPart>
    /// Where a person is signed in: which devices' sessions, also expired ones; the sessions themselves are in `memory`. Whoever adds a login
    /// forgets the person's entry; a device that is listed and has no such login any more is passed over.
    let logins: CoherentCache<LoginPlace, [SessionKey]>
    let rememberedLogins = Counter(label: "boxoffice_authentication_login_lookups_total", dimensions: [("source", "memory")])
    let readLogins = Counter(label: "boxoffice_authentication_login_lookups_total", dimensions: [("source", "store")])

    /// What must be heard before memory answers for a client.
    let changes: (any StoreChanges)?

    /// - Parameter cachedSessions: Sessions kept in memory, devices known to have none, codes, and people whose logins are known there, of each at least 2.
    init(_ store: Store, cachedSessions: Int = 65_536) {
        self.store = store
        changes = store.isCoherent ? store.changes : ClientEpoch.watching(store)
        clients = CoherentCache(capacity: 16_384, changes: changes)
        memory = SessionMemory(capacity: cachedSessions, of: store)
        codes = CoherentCache(capacity: cachedSessions, of: store)
        parts = CoherentCache(capacity: cachedSessions, of: store)
        logins = CoherentCache(capacity: cachedSessions, of: store)
        memory.watched(by: store)
        store.watch(clients, "clients")
        store.watch(codes, "codes")
        store.watch(parts, "bridged parts")
        store.watch(logins, "logins")
    }

    /// To be called when the session may be in the store by now, before anybody hears of it.
    func noteStart(of session: SessionRecord) {
        memory.forget(session.key)
        if session.isLogin { logins.forget(LoginPlace(subscriber: session.subscriber, requestor: session.key.requestor)) }
    }
}

/// A person at an MVPD, as one requestor's devices may be signed in.
struct LoginPlace: Hashable, Sendable {
    let subscriber: Subscriber
    let requestor: RequestorID
}
