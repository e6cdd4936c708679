internal import Foundation
internal import Octets
internal import Synchronization

/// The library's state between launches: in memory, and in the store as far as the store works.
final class StateStore: Sendable {
    /// Permissions beyond this number are forgotten, the oldest first.
    static let permissionLimit = 256

    private struct State {
        var registrations: [String: Registration] = [:]
        var sessions = SessionsRecord()
        var marks = MarksRecord()
        var seal: Seal?
    }

    private let store: any SecureStore
    private let report: @Sendable (StoreFailure) -> Void
    private let state: Mutex<State>

    /// - Parameter report: Called for each operation that the store failed.
    init(store: any SecureStore, check: StorageCheck, report: @escaping @Sendable (StoreFailure) -> Void) {
        self.store = store
        self.report = report
        switch check {
        case .none: break
        case .all: if !Self.isSound(store) { Self.clear(store, report) }
        case .clear: Self.clear(store, report)
        }
        state = Mutex(Self.load(store, report))
    }

    var sessions: SessionsRecord { state.withLock { $0.sessions } }
    var marks: MarksRecord { state.withLock { $0.marks } }

    func registration(at server: URL) -> Registration? { state.withLock { $0.registrations[server.absoluteString] } }

    func keep(_ registration: Registration?, at server: URL) {
        state.withLock { state in
            guard state.registrations[server.absoluteString] != registration else { return }
            state.registrations[server.absoluteString] = registration
            save(state.registrations, .registrations, &state)
        }
    }

    func token(of requestor: Requestor.ID) -> StoredToken? { state.withLock { $0.sessions.tokens[requestor.rawValue] } }

    /// Keeps a session; permissions of an earlier one end with it.
    func keep(_ token: StoredToken) {
        state.withLock { state in
            let former = state.sessions.tokens.updateValue(token, forKey: token.requestor.rawValue)
            if former?.provider != token.provider || former?.userID != token.userID {
                state.sessions.permissions.removeAll { $0.requestor == token.requestor }
            }
            save(state.sessions, .sessions, &state)
            // The pending sign-out would end this session; rest-v2 ends the one of its provider only.
            let id = token.requestor.rawValue
            guard token.api != .v2 || state.marks.dueProviders?[id] == token.provider, state.marks.dueSignOuts.remove(id) != nil else { return }
            state.marks.dueProviders?[id] = nil
            save(state.marks, .marks, &state)
        }
    }

    func removeToken(of requestor: Requestor.ID) {
        state.withLock { state in
            guard state.sessions.tokens.removeValue(forKey: requestor.rawValue) != nil else { return }
            state.sessions.permissions.removeAll { $0.requestor == requestor }
            save(state.sessions, .sessions, &state)
        }
    }

    func permission(_ resource: Resource.ID, _ token: StoredToken) -> StoredPermission? {
        state.withLock { state in
            state.sessions.permissions.first { $0.requestor == token.requestor && $0.provider == token.provider && $0.resource == resource }
        }
    }

    /// The newest permission for a resource counts.
    func keep(_ permission: StoredPermission) {
        state.withLock { state in
            state.sessions.permissions.removeAll { $0.requestor == permission.requestor && $0.resource == permission.resource }
            state.sessions.permissions.append(permission)
            state.sessions.permissions.removeFirst(max(0, state.sessions.permissions.count - Self.permissionLimit))
            save(state.sessions, .sessions, &state)
        }
    }

    func removePermission(_ resource: Resource.ID, of requestor: Requestor.ID) {
        state.withLock { state in
            state.sessions.permissions.removeAll { $0.requestor == requestor && $0.resource == resource }
            save(state.sessions, .sessions, &state)
        }
    }

    /// Ends all sessions and permissions; registrations and marks stay.
    func clearSessions() {
        state.withLock { state in
            state.sessions = SessionsRecord()
            attempt { () throws(StoreFailure) in try store.remove(.sessions) }
        }
    }

    func changeMarks(_ change: (inout MarksRecord) -> Void) {
        state.withLock { state in
            let former = state.marks
            change(&state.marks)
            if state.marks != former { save(state.marks, .marks, &state) }
        }
    }

    private func save(_ record: some Encodable, _ entry: StoreEntry, _ state: inout State) {
        attempt { () throws(StoreFailure) in
            let seal = if let known = state.seal { known } else { try Self.makeSeal(store) }
            state.seal = seal
            guard let content = try? JSONEncoder().encode(record) else { throw StoreFailure(.unavailable, entry, "the record cannot be encoded") }
            try store.write(seal.sealed(content, as: entry), to: entry)
        }
    }

    private func attempt(_ action: () throws(StoreFailure) -> Void) {
        do throws(StoreFailure) { try action() } catch { report(error) }
    }
}

extension StateStore {
    private static func load(_ store: any SecureStore, _ report: (StoreFailure) -> Void) -> State {
        var state = State()
        do throws(StoreFailure) { state.seal = try seal(store) } catch { report(error) }
        guard let seal = state.seal else { return state }
        state.registrations = load(.registrations, store, seal, report) ?? [:]
        state.sessions = load(.sessions, store, seal, report) ?? SessionsRecord()
        state.marks = load(.marks, store, seal, report) ?? MarksRecord()
        return state
    }

    private static func load<Record: Decodable>(
        _ entry: StoreEntry, _ store: any SecureStore, _ seal: Seal, _ report: (StoreFailure) -> Void
    ) -> Record? {
        do throws(StoreFailure) {
            return try read(entry, store, seal)
        } catch {
            report(error)
            return nil
        }
    }

    private static func read<Record: Decodable>(_ entry: StoreEntry, _ store: any SecureStore, _ seal: Seal) throws(StoreFailure) -> Record? {
        guard let text = try store.read(entry) else { return nil }
        let content = try seal.opened(text, as: entry)
        guard let record = try? JSONDecoder().decode(Record.self, from: content) else {
            throw StoreFailure(.corrupt, entry, "the entry is of another form")
        }
        return record
    }

    /// The seal with the key of the store; `nil` when there is no key yet.
    private static func seal(_ store: any SecureStore) throws(StoreFailure) -> Seal? {
        guard let key = try store.read(.key) else { return nil }
        guard let seal = Seal(key: key) else { throw StoreFailure(.corrupt, .key, "the key has another length") }
        return seal
    }

    private static func makeSeal(_ store: any SecureStore) throws(StoreFailure) -> Seal {
        let key = Seal.newKey()
        guard let seal = Seal(key: key) else { throw StoreFailure(.unavailable, .key, "no key can be made") }
        try store.write(key, to: .key)
        return seal
    }

    /// True when the store writes and reads entries, and all existing ones can be read.
    private static func isSound(_ store: any SecureStore) -> Bool {
        do throws(StoreFailure) {
            let probe = Seal.newKey()
            try store.write(probe, to: .probe)
            guard try store.read(.probe) == probe else { return false }
            try store.remove(.probe)
            guard let seal = try seal(store) else {
                for entry in StoreEntry.allCases where try store.read(entry) != nil { return false }
                return true
            }
            let _: [String: Registration]? = try read(.registrations, store, seal)
            let _: SessionsRecord? = try read(.sessions, store, seal)
            let _: MarksRecord? = try read(.marks, store, seal)
            return true
        } catch {
            return false
        }
    }

    private static func clear(_ store: any SecureStore, _ report: (StoreFailure) -> Void) {
        for entry in StoreEntry.allCases {
            do throws(StoreFailure) { try store.remove(entry) } catch { report(error) }
        }
    }
}

/// The app's registration at a server (rest-v1 §4.1).
struct Registration: Codable, Sendable, Hashable {
    var softwareStatement: String
    var clientID: String
    var clientSecret: String
    var accessToken: String?
    /// By the device's clock; if the server's clock differs, it answers 401.
    var accessTokenExpires: Date?
}

/// A session as it is kept.
struct StoredToken: Codable, Sendable, Hashable {
    var requestor: Requestor.ID
    var provider: Provider.ID
    var source: Session.Source
    /// By the server's clock.
    var expires: Date
    var userID: String
    /// The device for which the server made it.
    var deviceID: String
    /// Made by redeeming an Automatic Sign-In value.
    var isAutomatic = false
    /// Who the person is, for a promotional trial: rest-v2 wants it with each call.
    var trialIdentity: String?
    /// The API whose session it is; `nil` is version 1, also in entries from before there were two.
    var api: RestVersion?

    var session: Session { Session(requestor: requestor, provider: provider, source: source, expires: expires, userID: userID) }
}

/// A permission as it is kept.
struct StoredPermission: Codable, Sendable, Hashable {
    var requestor: Requestor.ID
    var provider: Provider.ID
    var resource: Resource.ID
    /// By the server's clock.
    var expires: Date
}

/// The state that a sign-out clears.
struct SessionsRecord: Codable, Sendable, Hashable {
    var tokens: [OctetText: StoredToken] = [:]
    var permissions: [StoredPermission] = []

    var isEmpty: Bool { tokens.isEmpty && permissions.isEmpty }
}

/// The state that outlives a sign-out.
struct MarksRecord: Codable, Sendable, Hashable {
    /// Requestors for which the server could not be told of a sign-out.
    var dueSignOuts: Set<OctetText> = []
    /// The providers of those sessions, which rest-v2 wants to know; absent in older entries.
    var dueProviders: [OctetText: Provider.ID]?
    /// A person signed out by hand: an Automatic Sign-In value is left alone (client-sdk §2.7 S8).
    var signedOutByHand = false
    /// The opt-in that this device made.
    var autoSignInFamily: String?
}
