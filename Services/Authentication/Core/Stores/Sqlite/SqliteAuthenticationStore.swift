package import Contracts
package import CoreMetrics
package import Faults
package import Storage

/// The service's state in a store, which copies of the service may share.
package final class SqliteAuthenticationStore: LivingStore {
    package let store: Store
    private let ownLives = EntryLives()
    package var lives: EntryLives? { ownLives }
    package let clients: CoherentCache<ClientID, Client>
    package let memory: SessionMemory
    /// A device that waits for its person polls by its code (rest-v2 §2.8). Whoever changes a code's row forgets it.
    package let codes: CoherentCache<RegistrationCodeText, RegistrationRecord>
    /// What belongs to sessions that came by an upstream.
    package let parts: CoherentCache<SessionID, BridgedPart>
    /// Where a person is signed in: which devices' sessions, also expired ones; the sessions themselves are in `memory`. Whoever adds a login
    /// forgets the person's entry; a device that is listed and has no such login any more is passed over.
    package let logins: CoherentCache<LoginPlace, [SessionKey]>
    package let rememberedLogins = Counter(label: "boxoffice_authentication_login_lookups_total", dimensions: [("source", "memory")])
    let readLogins = Counter(label: "boxoffice_authentication_login_lookups_total", dimensions: [("source", "store")])

    /// What must be heard before memory answers for a client.
    package let changes: (any StoreChanges)?

    /// - Parameter cachedSessions: Sessions kept in memory, devices known to have none, codes, and people whose logins are known there, of each at least 2.
    package init(_ store: Store, cachedSessions: Int = 65_536) {
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

    /// Whether other copies of the service on other hosts share it, and its clock.
    package var isDistributed: Bool { store.isDistributed }

    /// To be called when the session may be in the store by now, before anybody hears of it.
    func noteStart(of session: SessionRecord) {
        memory.forget(session.key)
        if session.isLogin { logins.forget(LoginPlace(subscriber: session.subscriber, requestor: session.key.requestor)) }
    }
}

/// A person at an MVPD, as one requestor's devices may be signed in.
package struct LoginPlace: Hashable, Sendable {
    package let subscriber: Subscriber
    package let requestor: RequestorID

    package init(subscriber: Subscriber, requestor: RequestorID) {
        (self.subscriber, self.requestor) = (subscriber, requestor)
    }
}

extension RegistrationCodeText: ColumnValue {
    package var stored: StoredValue { .text(text) }

    package init(_ row: any RowSource, _ column: Int) { self.init(typed: row.text(column)) }
}

extension UpstreamSubject {
    /// The attributes as they are kept in a column: a `SessionSubject` with nothing else in it.
    package func attributesColumn() throws(Fault) -> [UInt8] { try SessionSubject(attributes: attributes).serialized() }

    package static func attributes(column: [UInt8]) throws(Fault) -> [UserAttribute] { try SessionSubject(serialized: column).attributes }
}
