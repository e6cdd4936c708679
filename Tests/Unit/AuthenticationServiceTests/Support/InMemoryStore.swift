import Clocks
import Contracts
import Faults
import Storage
import Synchronization

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// The stores' contract without a database.
final class InMemoryStore: ClientStore, RegistrationCodeStore, SignInStore, SessionStore, ProviderTokenStore, LogoutStore, TrialStore,
    ProfileRequestStore, LoginStore, ServiceTokenStore, LivingStore
{
    var changes: (any StoreChanges)? { nil }
    var lives: EntryLives? { nil }

    struct AssertionKey: Hashable {
        let issuer: String
        let id: String
    }

    struct TrialEntry {
        var trial: Trial
        let requestor: RequestorID
        let mvpd: MvpdID
        var devices: Set<DeviceID> = []
        var users: Set<TrialUser> = []
    }

    struct State {
        var clients: [ClientID: Client] = [:]
        var secrets: [SecretReference: SealedSecret] = [:]
        var nonces: Set<[UInt8]> = []
        var announcedIssuers: Set<String> = []
        var people: [ServicePersonName.Key: ServicePersonID] = [:]
        var serviceDevices: [ServiceTieID: ServiceTokenDevice] = [:]
        var links: [ServicePersonID: ServiceLinkCode] = [:]
        var lastUses: [ClientID: Timestamp] = [:]
        var acted: Set<ClientID> = []
        var records: [RegistrationCodeText: RegistrationRecord] = [:]
        var pending: [SamlRequestID: PendingSignIn] = [:]
        /// The order of sign-ins, as they began.
        var order: [SamlRequestID] = []
        var assertions: Set<AssertionKey> = []
        private(set) var sessions: [SessionRecord] = [] {
            didSet { acted.formUnion(sessions.map(\.clientID)) }
        }
        var upstream: [SessionID: ProviderTokenRecord] = [:]
        var refreshing: [SessionID: Timestamp] = [:]
        var trials: [TrialEntry] = []
        var profileRequests: [SamlRequestID: ProfileRequestRecord] = [:]
        var pendingLogouts: [SecretDigest: PendingLogout] = [:]
        var logouts: [SessionKey: (at: Timestamp, until: Timestamp)] = [:]
        var tests: [SecretDigest: TestSignInRecord] = [:]
        var scheduled: [MvpdID: (due: Timestamp, state: ScheduledSignInState?)] = [:]
        /// Nobody gets a turn of scheduled sign-ins.
        var isAway = false

        /// The newest first.
        func sessions(at key: SessionKey) -> [SessionRecord] {
            sessions.filter { $0.key == key }.reversed()
        }

        mutating func end(_ record: RegistrationRecord, _ now: Timestamp) {
            let end = min(now, record.generatedAt) - .milliseconds(RegistrationRecord.clockErrorMilliseconds)
            records[record.code]?.expiresAt = end
            records[record.code]?.keptUntil = end
            records[record.code]?.platformTokens = []
            pending = pending.filter { $0.value.record != record.id }
        }

        mutating func put(_ session: SessionRecord) {
            sessions.removeAll { $0.key == session.key && $0.clientID == session.clientID && $0.mvpd == session.mvpd }
            sessions.append(session)
        }

        mutating func replace(_ session: SessionRecord) {
            guard let place = sessions.firstIndex(where: { $0.id == session.id }) else { return }
            sessions[place] = session
        }

        mutating func remove(_ session: SessionID) { sessions.removeAll { $0.id == session } }

        mutating func use(_ id: RegistrationRecordID, until end: Timestamp, now: Timestamp) -> Bool {
            guard let code = records.first(where: { $0.value.id == id })?.key, let record = records[code], !record.isUsed,
                record.expiresAt > now
            else { return false }
            records[code]?.isUsed = true
            records[code]?.usedAt = now
            records[code]?.keptUntil = max(record.expiresAt, end)
            records[code]?.platformTokens = []
            pending = pending.filter { $0.value.record != id }
            return true
        }

        func trial(of holder: TrialHolder) -> KnownTrial? {
            let own = trials.filter { $0.requestor == holder.key.requestor && $0.mvpd == holder.mvpd }
            let ofDevice = own.first { $0.devices.contains(holder.key.device) }
            let ofUser = holder.user.flatMap { user in own.first { $0.users.contains(user) } }
            guard let entry = ofUser ?? ofDevice else { return nil }
            return KnownTrial(trial: entry.trial, isDeviceKnown: ofDevice != nil, isUserKnown: holder.user == nil || ofUser != nil)
        }

        mutating func keep(_ trial: Trial, of holder: TrialHolder) {
            let known = self.trial(of: holder)
            if !trials.contains(where: { $0.trial.id == trial.id }) {
                trials.append(TrialEntry(trial: trial, requestor: holder.key.requestor, mvpd: holder.mvpd))
            }
            for index in trials.indices where trials[index].trial.id == trial.id {
                trials[index].trial = trial
                if known?.isDeviceKnown != true { trials[index].devices.insert(holder.key.device) }
                if let user = holder.user, known?.isUserKnown != true { trials[index].users.insert(user) }
            }
        }
    }

    let state = Mutex(State())

    func add(_ client: Client) async throws(Fault) { state.withLock { $0.clients[client.id] = client } }

    func client(_ id: ClientID) async throws(Fault) -> Client? { state.withLock { $0.clients[id] } }

    func noteUse(of client: ClientID, at moment: Timestamp) async throws(Fault) {
        state.withLock { $0.lastUses[client] = max(moment, $0.lastUses[client] ?? moment) }
    }

    func forgetClients(usedBefore used: Timestamp, idleBefore idle: Timestamp, now: Timestamp) async throws(Fault) -> Int {
        state.withLock { state in
            let unused = state.clients.values.filter { client in
                let last = max(state.lastUses[client.id] ?? client.issuedAt, client.issuedAt)
                guard state.acted.contains(client.id) else { return last < idle }
                return last < used && !state.sessions.contains { $0.clientID == client.id }
                    && !state.records.values.contains { $0.clientID == client.id && $0.expiresAt > now }
            }
            for client in unused { state.clients[client.id] = nil }
            return unused.count
        }
    }

    func revoke(_ client: ClientID) async throws(Fault) -> Bool {
        state.withLock { $0.clients.removeValue(forKey: client) != nil }
    }

    func claim(_ record: RegistrationRecord, now: Timestamp) async throws(Fault) -> Bool {
        state.withLock { state in
            if let other = state.records[record.code], other.keptUntil > now { return false }
            if record.isPlan {
                for other in state.records.values
                where other.isPlan && !other.isUsed && other.expiresAt > now && other.deviceID == record.deviceID && other.clientID == record.clientID
                    && other.requestor == record.requestor
                {
                    state.end(other, now)
                }
            }
            state.records[record.code] = record
            state.acted.insert(record.clientID)
            return true
        }
    }

    func liveRecord(_ code: RegistrationCodeText, now: Timestamp) async throws(Fault) -> RegistrationRecord? {
        state.withLock { $0.records[code] }.flatMap { $0.expiresAt > now ? $0 : nil }
    }

    func keptRecord(_ code: RegistrationCodeText, now: Timestamp) async throws(Fault) -> RegistrationRecord? {
        state.withLock { $0.records[code] }.flatMap { $0.keptUntil > now ? $0 : nil }
    }

    func plan(_ record: RegistrationRecord, now: Timestamp) async throws(Fault) -> Bool {
        state.withLock { state in
            guard let known = state.records[record.code], known.id == record.id, !known.isUsed, known.expiresAt > now else { return false }
            state.records[record.code] = record
            return true
        }
    }

    func remove(_ code: RegistrationCodeText, requestor: RequestorID, now: Timestamp) async throws(Fault) -> Bool {
        state.withLock { state in
            guard let record = state.records[code], record.requestor == requestor, record.expiresAt > now else { return false }
            state.end(record, now)
            return true
        }
    }

    func begin(_ pending: PendingSignIn, now: Timestamp) async throws(Fault) -> Bool {
        state.withLock { state in
            let record = state.records.values.first { $0.id == pending.record }
            guard let record, !record.isUsed, record.expiresAt > now else { return false }
            state.pending[pending.requestID] = pending
            state.order.append(pending.requestID)
            let own = state.order.filter { state.pending[$0]?.record == pending.record }
            for oldest in own.dropLast(PendingSignIn.most) { state.pending[oldest] = nil }
            return true
        }
    }

    func pending(_ relayState: SecretDigest, now: Timestamp) async throws(Fault) -> PendingSignIn? {
        state.withLock { $0.pending.values.first { $0.relayState == relayState && $0.expiresAt > now } }
    }

    func abandon(_ request: SamlRequestID) async throws(Fault) -> Bool {
        state.withLock { $0.pending.removeValue(forKey: request) != nil }
    }

    func complete(_ completion: SignInCompletion, now: Timestamp) async throws(Fault) -> SignInCompletionResult {
        state.withLock { state in
            guard let pending = state.pending.removeValue(forKey: completion.requestID), pending.expiresAt > now else { return .notPending }
            let key = AssertionKey(issuer: completion.replay.issuer, id: completion.replay.assertionID)
            guard state.assertions.insert(key).inserted else { return .replayed }
            guard state.use(completion.record, until: completion.session.expiresAt, now: now) else { return .codeGone }
            state.put(completion.session)
            return .completed
        }
    }

    func add(_ request: ProfileRequestRecord) async throws(Fault) { state.withLock { $0.profileRequests[request.requestID] = request } }

    func profileRequest(_ id: SamlRequestID, now: Timestamp) async throws(Fault) -> ProfileRequestRecord? {
        state.withLock { $0.profileRequests[id] }.flatMap { $0.expiresAt > now ? $0 : nil }
    }

    func newestProfileRequest(
        client: ClientID, requestor: RequestorID, mvpd: MvpdID, platform: Platform, now: Timestamp
    ) async throws(Fault) -> ProfileRequestRecord? {
        state.withLock { state in
            state.profileRequests.values.filter { $0.isOf(client, requestor, mvpd, platform) && $0.expiresAt > now }
                .max { ($0.createdAt, $0.requestID.text) < ($1.createdAt, $1.requestID.text) }
        }
    }

    func complete(_ completion: PlatformCompletion, now: Timestamp) async throws(Fault) -> PlatformCompletionResult {
        state.withLock { state in
            guard let request = state.profileRequests[completion.requestID], request.expiresAt > now else { return .notPending }
            state.profileRequests[completion.requestID] = nil
            let key = AssertionKey(issuer: completion.replay.issuer, id: completion.replay.assertionID)
            guard state.assertions.insert(key).inserted else { return .replayed }
            state.put(completion.session)
            return .completed
        }
    }

    func start(_ preview: FreePreview, now: Timestamp) async throws(Fault) -> FreePreviewResult {
        state.withLock { state in
            guard let session = preview.session(continuing: state.trial(of: preview.holder), now: now) else { return .usedUp }
            if let record = session.record, !state.use(record, until: session.expiresAt, now: now) { return .codeGone }
            state.put(session)
            return .started(session)
        }
    }

    func spend(_ play: TrialPlay, now: Timestamp) async throws(Fault) -> TrialPlay.Outcome {
        state.withLock { state in
            let outcome = play.outcome(sessions: state.sessions(at: play.holder.key), known: state.trial(of: play.holder), now: now)
            guard case .permitted(let permit) = outcome else { return outcome }
            if let session = permit.session { state.replace(session) }
            state.keep(permit.trial, of: play.holder)
            return outcome
        }
    }

    func trial(_ id: TrialID) async throws(Fault) -> Trial? {
        state.withLock { $0.trials.first { $0.trial.id == id }?.trial }
    }

    func trial(of holder: TrialHolder) async throws(Fault) -> Trial? { state.withLock { $0.trial(of: holder)?.trial } }

    func reset(_ scope: TrialScope, requestor: RequestorID, mvpd: MvpdID) async throws(Fault) -> Int {
        state.withLock { state in
            let before = state.trials.count
            state.trials.removeAll { entry in
                guard entry.requestor == requestor, entry.mvpd == mvpd else { return false }
                switch scope {
                case .all: return true
                case .device(let device): return entry.devices.contains(device)
                case .users: return !entry.users.isEmpty
                case .user(let user): return entry.users.contains(user)
                }
            }
            return before - state.trials.count
        }
    }
}
