import Contracts
import Clocks
import Faults

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// Sessions, the tokens of their providers, and the logins that the platform's users have.
extension InMemoryStore {
    func sessions(_ key: SessionKey) async throws(Fault) -> [SessionRecord] { state.withLock { $0.sessions(at: key) } }

    func start(_ session: SessionRecord, now: Timestamp) async throws(Fault) -> Bool {
        state.withLock { state in
            if let record = session.record, !state.use(record, until: session.expiresAt, now: now) { return false }
            state.put(session)
            return true
        }
    }

    func start(_ session: SessionRecord, keeping tokens: ProviderTokenRecord, now: Timestamp) async throws(Fault) -> Bool {
        state.withLock { state in
            if let record = session.record, !state.use(record, until: session.expiresAt, now: now) { return false }
            state.put(session)
            state.upstream[session.id] = tokens
            return true
        }
    }

    func providerTokens(of session: SessionID) async throws(Fault) -> ProviderTokenRecord? {
        state.withLock { state in state.sessions.contains { $0.id == session } ? state.upstream[session] : nil }
    }

    func identityTokens(at key: SessionKey) async throws(Fault) -> [SessionID: [UInt8]] {
        state.withLock { state in
            let tokens = state.sessions.filter { $0.key == key }.compactMap { session in
                state.upstream[session.id]?.identityToken.map { (session.id, $0) }
            }
            return Dictionary(tokens) { $1 }
        }
    }

    func claimRefresh(of session: SessionID, until lease: Timestamp, now: Timestamp) async throws(Fault) -> Bool {
        state.withLock { state in
            guard state.upstream[session] != nil, state.refreshing[session].map({ $0 <= now }) ?? true else { return false }
            state.refreshing[session] = lease
            return true
        }
    }

    func put(_ tokens: ProviderTokenRecord, replacing before: [UInt8]?) async throws(Fault) -> Bool {
        state.withLock { state in
            guard state.sessions.contains(where: { $0.id == tokens.session }), let known = state.upstream[tokens.session],
                known.refreshToken == before
            else { return false }
            state.upstream[tokens.session] = tokens
            state.refreshing[tokens.session] = nil
            return true
        }
    }

    func endRefresh(of session: SessionID) async throws(Fault) { state.withLock { $0.refreshing[session] = nil } }

    func sessions(of identity: PlatformIdentity, now: Timestamp) async throws(Fault) -> [SessionRecord] {
        state.withLock { $0.sessions.filter { $0.origin.identity == identity && $0.expiresAt > now } }
    }

    func sessions(of identity: ServiceIdentity, now: Timestamp) async throws(Fault) -> [SessionRecord] {
        state.withLock { $0.sessions.filter { $0.origin.serviceIdentity == identity && $0.expiresAt > now } }
    }

    func sessions(
        named name: String, userIDs: [String], at requestor: RequestorID, mvpd: MvpdID, most: Int
    ) async throws(Fault) -> [SessionRecord] {
        state.withLock { state in
            SessionRecord.newest(
                state.sessions.filter { session in
                    session.key.requestor == requestor && session.mvpd == mvpd
                        && (session.subject.name.value == name
                            || (session.kind == .regular || session.kind == .platform) && userIDs.contains(session.userID))
                }, most)
        }
    }

    func update(_ update: AttributeUpdate, now: Timestamp) async throws(Fault) -> Bool {
        state.withLock { state in
            guard let session = update.applied(to: state.sessions(at: update.key), now: now) else { return false }
            state.replace(session)
            return true
        }
    }

    func logins(
        of subscribers: Set<Subscriber>, besides device: SessionKey, now: Timestamp
    ) async throws(Fault) -> (own: [SessionRecord], logins: [SessionRecord]) {
        (try await sessions(device), try await logins(of: subscribers, at: device.requestor, now: now))
    }

    func rememberedLogins(
        of subscribers: Set<Subscriber>, besides device: SessionKey, now: Timestamp
    ) async throws(Fault) -> (own: [SessionRecord], logins: [SessionRecord])? {
        try await logins(of: subscribers, besides: device, now: now)
    }

    func logins(of subscribers: Set<Subscriber>, at requestor: RequestorID, now: Timestamp) async throws(Fault) -> [SessionRecord] {
        state.withLock { state in
            state.sessions.filter {
                $0.key.requestor == requestor && $0.isLogin && subscribers.contains($0.subscriber) && $0.expiresAt > now
            }
        }
    }

    func start(_ made: MadeSession, now: Timestamp) async throws(Fault) -> Bool {
        state.withLock { state in
            let isLive = state.sessions.contains { $0.id == made.login && $0.expiresAt > now }
            guard isLive, state.sessions(at: made.session.key).first?.id == made.replaced else { return false }
            if let replaced = made.replaced { state.remove(replaced) }
            state.put(made.session)
            state.upstream[made.session.id] = made.tokens
            return true
        }
    }

    func endAutomatic(_ sessions: [SessionID], now: Timestamp) async throws(Fault) -> Int {
        state.withLock { state in
            let ended = state.sessions.filter { $0.kind == .automatic && sessions.contains($0.id) }
            for session in ended {
                state.remove(session.id)
                Self.remember(logoutOf: session.key, &state, now)
            }
            return ended.count { $0.expiresAt > now }
        }
    }
}

extension SessionStore {
    /// The newest that a device has at a requestor.
    func session(_ key: SessionKey) async throws(Fault) -> SessionRecord? { try await sessions(key).first }
}
