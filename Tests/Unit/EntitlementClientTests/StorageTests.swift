@testable import EntitlementClient
import EntitlementSimulator
import Foundation
import Synchronization
import Testing

@Suite("client-sdk: storage")
@MainActor
struct StorageTests {
    /// A store with a session and a permission in it.
    private func filled(_ store: any SecureStore, rest: RestVersion = .v1) async throws -> TestApp {
        let app = TestApp(rest: rest, store: store)
        try await app.configure()
        try await app.signInOrdinarily()
        try await app.until("setToken") { app.enabler.checkAuthorization("NEWS") }
        return app
    }

    nonisolated static let damages: [(String, @Sendable (Data) -> Data)] = [
        (
            "a bit",
            {
                var data = $0; data[data.count - 3] ^= 1; return data
            }
        ),
        (
            "the code",
            {
                var data = $0; data[10] ^= 1; return data
            }
        ),
        (
            "the version",
            {
                var data = $0; data[0] ^= 1; return data
            }
        ), ("its end", { $0.dropLast(5) }), ("everything", { _ in Data() }),
        ("another text", { _ in Data("garbage".utf8) }),
    ]

    @Test(
        "client-sdk #67: a corrupt entry: INTEGRITY_CHECK_ALL empties the store, NONE leaves it", arguments: damages.indices,
        [(StoreEntry.sessions, RestVersion.v1), (.sessions, .v2), (.registrations, .v1), (.registrations, .v2)])
    func meetsDamage(index: Int, damaged: (entry: StoreEntry, rest: RestVersion)) async throws {
        let store = MemoryStore()
        let entry = damaged.entry
        let app = try await filled(store, rest: damaged.rest)
        store.write(Self.damages[index].1(try #require(store.read(entry))), to: entry)
        let content = store.read(entry)
        app.relaunch()
        #expect(store.read(entry) == content && store.read(.key) != nil, "left")
        if entry == .sessions {
            try await app.configure()
            #expect(try await app.check().last == "setAuthenticationStatus(0,USER_NOT_AUTHENTICATED_ERROR)", "and not believed")
        }
        app.relaunch(check: .all)
        for other in StoreEntry.allCases { #expect(store.read(other) == nil) }
        try await app.configure()
        try await app.signInOrdinarily()
        app.relaunch(check: .all)
        try await app.configure()
        #expect(try await app.check() == ["setAuthenticationStatus(1,)"], "works again")
    }

    @Test("entries cannot be mixed up, and a lost key is damage", arguments: RestVersion.allCases)
    func protectsNames(rest: RestVersion) async throws {
        let store = MemoryStore()
        let app = try await filled(store, rest: rest)
        store.write(try #require(store.read(.registrations)), to: .sessions)
        app.relaunch(check: .all)
        #expect(store.read(.sessions) == nil && store.read(.registrations) == nil)
        let other = MemoryStore()
        let second = try await filled(other, rest: rest)
        other.remove(.key)
        second.relaunch(check: .all)
        #expect(other.read(.sessions) == nil)
    }

    @Test("CLEAR always clears, ALL keeps what is sound", arguments: RestVersion.allCases)
    func clears(rest: RestVersion) async throws {
        let store = MemoryStore()
        let app = try await filled(store, rest: rest)
        app.relaunch(check: .all)
        try await app.configure()
        #expect(try await app.check() == ["setAuthenticationStatus(1,)"])
        app.relaunch(check: .clear)
        try await app.configure()
        #expect(try await app.check().last == "setAuthenticationStatus(0,USER_NOT_AUTHENTICATED_ERROR)")
        #expect(app.server.names.contains(.REG))
    }

    @Test("a store that is full or locked: everything works until the restart, and is reported", arguments: [StoreFailure.Kind.full, .unavailable])
    func worksWithoutRoom(kind: StoreFailure.Kind) async throws {
        let store = BrokenStore(kind)
        let app = TestApp(store: store)
        let events = app.enabler.client.events
        try await app.configure()
        try await app.signInOrdinarily()
        #expect(try await app.until("setToken") { app.enabler.checkAuthorization("NEWS") } == ["setToken(NEWS)"])
        #expect(try await app.check() == ["setAuthenticationStatus(1,)"])
        var reports = events.makeAsyncIterator()
        var failure: StoreFailure?
        while failure == nil, let event = await reports.next() { if case .storageFailed(let found) = event { failure = found } }
        #expect(failure?.kind == kind)
        app.relaunch(check: .all)
        try await app.configure()
        #expect(try await app.check().last == "setAuthenticationStatus(0,USER_NOT_AUTHENTICATED_ERROR)")
    }

    @Test("a store that fails in the middle keeps the old entry whole")
    func replacesWhole() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("entitlement-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = FileStore(folder: folder)
        #expect(try store.read(.sessions) == nil)
        try store.write(Data("one".utf8), to: .sessions)
        try store.write(Data("two".utf8), to: .sessions)
        #expect(try store.read(.sessions) == Data("two".utf8))
        let file = folder.appendingPathComponent("sessions.entry")
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        // A crash between draft and replacement leaves a draft, which is never read.
        try Data("thr".utf8).write(to: file.appendingPathExtension("new"))
        #expect(try store.read(.sessions) == Data("two".utf8))
        try store.write(Data("four".utf8), to: .sessions)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["sessions.entry"])
        try store.remove(.sessions)
        try store.remove(.sessions)
        #expect(try store.read(.sessions) == nil)
    }

    @Test("a device without room says that it is full")
    func tellsFullDevice() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("entitlement-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(FileStore.isFull(POSIXError(.ENOSPC)))
        #expect(FileStore.isFull(CocoaError(.fileWriteOutOfSpace)))
        #expect(FileStore.isFull(CocoaError(.fileWriteUnknown, userInfo: [NSUnderlyingErrorKey: POSIXError(.EDQUOT)])))
        #expect(!FileStore.isFull(CocoaError(.fileWriteNoPermission)))
        let store = FileStore(folder: folder.appendingPathComponent("sub/deeper"))
        try Data().write(to: folder.appendingPathComponent("sub"))
        do throws(StoreFailure) {
            try store.write(Data("x".utf8), to: .marks)
            Issue.record("a file is no folder")
        } catch {
            #expect(error.kind == .unavailable && error.entry == .marks)
        }
    }

    @Test("the session goes through a real folder", arguments: [StorageCheck.none, .all], RestVersion.allCases)
    func usesFolder(check: StorageCheck, rest: RestVersion) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("entitlement-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let app = try await filled(FileStore(folder: folder), rest: rest)
        app.relaunch(check: check)
        try await app.configure()
        #expect(try await app.check() == ["setAuthenticationStatus(1,)"])
        let written = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(!written.isEmpty)
    }

    @Test("permissions beyond the limit are forgotten, the oldest first")
    func boundsPermissions() {
        let stateStore = StateStore(store: MemoryStore(), check: .none) { _ in }
        let token = StoredToken(
            requestor: "ACME1", provider: "plain", source: .regular, expires: .distantFuture, userID: "u", deviceID: "d")
        stateStore.keep(token)
        for number in 0...StateStore.permissionLimit {
            stateStore.keep(StoredPermission(requestor: "ACME1", provider: "plain", resource: Resource.ID("R\(number)"), expires: .distantFuture))
        }
        #expect(stateStore.sessions.permissions.count == StateStore.permissionLimit)
        #expect(stateStore.permission("R0", token) == nil && stateStore.permission("R1", token) != nil)
    }
}

/// A store that keeps nothing and reports the failure.
private final class BrokenStore: SecureStore {
    private let kind: StoreFailure.Kind

    init(_ kind: StoreFailure.Kind) { self.kind = kind }

    func read(_ entry: StoreEntry) throws(StoreFailure) -> Data? {
        if kind == .unavailable { throw StoreFailure(kind, entry, "locked") }
        return nil
    }
    func write(_ content: Data, to entry: StoreEntry) throws(StoreFailure) { throw StoreFailure(kind, entry, "no room") }
    func remove(_ entry: StoreEntry) throws(StoreFailure) { throw StoreFailure(kind, entry, "no room") }
}
