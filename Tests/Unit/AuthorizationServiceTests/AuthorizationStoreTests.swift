import AuthorizationService
import Clocks
import Foundation
import PostgresServer
import ServiceKit
import Storage
import StorageSqlite
import Testing

/// The behaviour of every store of authz tokens.
@Suite struct AuthorizationStoreTests {
    enum Backend: CaseIterable {
        case memory, sqlite, postgres

        static var allCases: [Backend] { [.memory, .sqlite] + (PostgresServer.isHere ? [.postgres] : []) }

        var engine: StoreEngineCase? {
            switch self {
            case .memory: nil
            case .sqlite: .sqlite
            case .postgres: .postgres
            }
        }
    }

    private static let now = Timestamp(seconds: 1_930_384_800)

    private static func token(session: String = "s", device: String = "d", resource: String = "r", expiresIn: Duration = .seconds(60)) -> AuthzToken {
        AuthzToken(
            key: AuthzTokenKey(session: session, device: device, requestor: "CHAN7", resource: resource), mvpd: "DemoCable", proxyMvpd: "Proxy",
            expiresAt: now + expiresIn)
    }

    private func withStore(_ backend: Backend, _ body: (any AuthorizationStore) async throws -> Void) async throws {
        guard let engine = backend.engine else { return try await body(InMemoryAuthorizationStore()) }
        let folder = FileManager.default.temporaryDirectory.appending(path: "authz-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try engine.open(folder)
        try await body(SqlAuthorizationStore(store))
        await store.close()
    }

    @Test("operators see how full the memory for permits is")
    func tellsOfItsMemory() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "authz-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let numbers = PrometheusMetrics()
        let files = try Store(
            file: folder + "/authz.sqlite", name: "authorization", migrations: SqlAuthorizationStore.migrations, factory: numbers)
        let store = SqlAuthorizationStore(files, cachedTokens: 64)
        defer { withExtendedLifetime(store) {} }
        try await store.save(Self.token())
        _ = try await store.token(Self.token().key)
        _ = try await files.size()
        let lines = numbers.text().split(separator: "\n")
        #expect(lines.contains(#"boxoffice_storage_cache_limit_entries{cache="tokens",store="authorization"} 64.0"#))
        #expect(lines.contains(#"boxoffice_storage_cache_entries{cache="tokens",store="authorization"} 1.0"#))
        await files.close()
    }

    @Test(arguments: Backend.allCases)
    func findsWhatItSaved(backend: Backend) async throws {
        try await withStore(backend) { store in
            for resource in ["r", String(repeating: "r", count: 4096)] {
                let token = Self.token(resource: resource)
                #expect(try await store.token(token.key) == nil)
                try await store.save(token)
                for _ in 1...2 { #expect(try await store.token(token.key) == token) }
            }
        }
    }

    @Test("rest-v1 §5: the newest token of a key wins", arguments: Backend.allCases)
    func theNewestWins(backend: Backend) async throws {
        try await withStore(backend) { store in
            try await store.save(Self.token())
            _ = try await store.token(Self.token().key)
            var newer = Self.token(expiresIn: .seconds(600))
            newer.proxyMvpd = nil
            newer.degradationRule = "rule-1"
            try await store.save(newer)
            #expect(try await store.token(newer.key) == newer)
        }
    }

    @Test("rest-v1 §5: tokens of another session, device or resource are apart", arguments: Backend.allCases)
    func keepsKeysApart(backend: Backend) async throws {
        try await withStore(backend) { store in
            try await store.save(Self.token())
            for other in [Self.token(session: "t"), Self.token(device: "e"), Self.token(resource: "R"), Self.token(session: "sd", device: "")] {
                #expect(try await store.token(other.key) == nil)
            }
        }
    }

    @Test(arguments: Backend.allCases)
    func forgetsWhatExpired(backend: Backend) async throws {
        try await withStore(backend) { store in
            let old = Self.token(resource: "old", expiresIn: .seconds(1))
            let live = Self.token(resource: "live", expiresIn: .seconds(2))
            try await store.save(old)
            try await store.save(live)
            _ = try await store.token(old.key)
            try await store.forget(expiredBefore: Self.now + .seconds(1))
            #expect(try await store.token(old.key) == nil)
            #expect(try await store.token(live.key) == live)
        }
    }

    @Test("a permit that was read is answered from memory, until memory is forgotten")
    func remembers() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "authz-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try StoreEngineCase.sqlite.open(folder)
        let tokens = SqlAuthorizationStore(store)
        // A resource that is too long for memory is read each time.
        let (short, long) = (Self.token(), Self.token(resource: String(repeating: "r", count: 513)))
        for token in [short, long] {
            try await tokens.save(token)
            #expect(try await tokens.token(token.key) == token)
        }
        try await store.write { try $0.run("DELETE FROM authz_tokens", []) }
        #expect(try await tokens.token(short.key) == short)
        #expect(try await tokens.token(long.key) == nil)
        tokens.forgetMemory()
        #expect(try await tokens.token(short.key) == nil)
        await store.close()
    }

    @Test func survivesARestart() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "authz-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let token = Self.token()
        for isFirst in [true, false] {
            let store = try Store(file: folder + "/authorization.sqlite", name: "authorization", migrations: SqlAuthorizationStore.migrations)
            if isFirst { try await SqlAuthorizationStore(store).save(token) }
            #expect(try await SqlAuthorizationStore(store).token(token.key) == token)
            await store.close()
        }
    }
}
