import Contracts
import Clocks
import Faults

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// Ends of sessions, and what is remembered of them.
extension InMemoryStore {
    func lastLogout(_ key: SessionKey, now: Timestamp) async throws(Fault) -> Timestamp? {
        state.withLock { $0.logouts[key] }.flatMap { $0.until > now ? $0.at : nil }
    }

    func end(device: DeviceID, requestors: [RequestorID], claims: DeviceClaims, now: Timestamp) async throws(Fault) -> [SessionRecord] {
        state.withLock { state in
            var ended: [SessionRecord] = []
            for key in requestors.map({ SessionKey(device: device, requestor: $0) }) {
                defer { Self.remember(logoutOf: key, &state, now) }
                for session in state.sessions(at: key) where claims.agree(with: session.claims) {
                    state.remove(session.id)
                    if session.expiresAt > now { ended.append(session) }
                }
            }
            return ended
        }
    }

    func end(_ key: SessionKey, client: ClientID, mvpd: MvpdID, now: Timestamp) async throws(Fault) -> SessionRecord? {
        state.withLock { state in
            defer { Self.remember(logoutOf: key, &state, now) }
            guard let session = state.sessions(at: key).first(where: { $0.clientID == client && $0.mvpd == mvpd }) else { return nil }
            state.remove(session.id)
            return session.expiresAt > now ? session : nil
        }
    }

    func add(_ logouts: [PendingLogout]) async throws(Fault) {
        state.withLock { state in
            for logout in logouts { state.pendingLogouts[logout.handle] = logout }
        }
    }

    func visit(_ handle: SecretDigest, as request: SamlRequestID, now: Timestamp) async throws(Fault) -> PendingLogout? {
        state.withLock { state in
            guard let logout = state.pendingLogouts[handle], logout.expiresAt > now else { return nil }
            state.pendingLogouts[handle]?.requestID = request
            return state.pendingLogouts[handle]
        }
    }

    func pendingLogout(_ handle: SecretDigest, now: Timestamp) async throws(Fault) -> PendingLogout? {
        state.withLock { $0.pendingLogouts[handle] }.flatMap { $0.expiresAt > now ? $0 : nil }
    }

    func finish(_ handle: SecretDigest, request: SamlRequestID) async throws(Fault) -> Bool {
        state.withLock { state in
            guard state.pendingLogouts[handle]?.requestID == request else { return false }
            state.pendingLogouts[handle] = nil
            return true
        }
    }

    func end(_ logout: MvpdLogout, now: Timestamp) async throws(Fault) -> MvpdLogoutResult {
        state.withLock { state in
            let key = AssertionKey(issuer: logout.replay.issuer, id: logout.replay.assertionID)
            guard state.assertions.insert(key).inserted else { return .replayed }
            let named = state.sessions.filter(logout.names)
            for session in named {
                state.remove(session.id)
                Self.remember(logoutOf: session.key, &state, now)
            }
            return .ended(named.filter { $0.expiresAt > now })
        }
    }

    static func remember(logoutOf key: SessionKey, _ state: inout State, _ now: Timestamp) {
        let latest = state.sessions.filter { $0.origin.identity != nil || $0.origin.serviceIdentity != nil }.map(\.expiresAt).max()
        if let latest, latest > now { state.logouts[key] = (now, latest) }
    }
}
