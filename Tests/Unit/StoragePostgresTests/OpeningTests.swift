import Cryptography
import Faults
import Foundation
import PostgresServer
import PrivatePostgres
import Storage
import StoragePostgres
import TestIdentities
import Testing

/// How a store comes to its server, and what it says where it does not.
@Suite("Opening", .enabled(if: PostgresServer.isHere, PostgresServer.absence))
struct OpeningTests {
    @Test("eight copies that start at once on nothing make the schema once")
    func together() async throws {
        let options = try PostgresServer.shared.options()
        let more = Migration(
            "2-more", statements: ["CREATE TABLE more (id BIGINT PRIMARY KEY)", "INSERT INTO more (id) VALUES (1)"], isAdditive: true)
        let stores = try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    try await withCheckedThrowingContinuation { continuation in
                        Thread.detachNewThread { continuation.resume(with: Result { try Store.notes(options, steps: [notes, more]) }) }
                    }
                }
            }
            return try await group.reduce(into: [Store]()) { $0.append($1) }
        }
        for (number, store) in stores.enumerated() {
            #expect(try await store.isUnderstood())
            try await store.add("\(number)")
        }
        #expect(try await stores[0].texts().count == 8)
        #expect(try await stores[0].value("SELECT count(*) FROM schema_step") == 3)
        for store in stores { await store.close() }
    }

    @Test("a copy that makes the schema while another has just made it finds it there")
    func schemaUnderWay() async throws {
        let options = try PostgresServer.shared.options()
        let schema = try #require(options.schema)
        let other = try await offThread { try Store.notes(PostgresServer.shared.options()) }
        let copy = try await other.write { database in
            try database.run(Statement(stringLiteral: "CREATE SCHEMA \"\(schema)\""))
            let copy = Task { try await offThread { try Store.notes(options) } }
            // A process that waits for this transaction is told afterwards that its schema is there already.
            let waits: Statement = "SELECT count(*) FROM pg_locks WHERE NOT granted AND transactionid = CAST(pg_current_xact_id() AS xid)"
            let end = ContinuousClock.now + .seconds(60)
            while try database.value(waits) != 1, ContinuousClock.now < end { usleep(5000) }
            #expect(try database.value(waits) == 1)
            return copy
        }
        let store = try await copy.value
        try await store.add("here")
        #expect(try await store.texts() == ["here"])
        await store.close()
        await other.close()
    }

    @Test("a role whose schema was made for it needs no right to make schemas")
    func schemaOfTheRole() async throws {
        let server = try PostgresServer()
        try server.server.run(sql: "CREATE ROLE housed LOGIN; CREATE SCHEMA house AUTHORIZATION housed")
        var options = server.options(schema: "house")
        options.user = "housed"
        let store = try Store.notes(options)
        try await store.add("here")
        await store.close()
        options.schema = "other"
        let error = #expect(throws: StoreError.self) { try Store.notes(options) }
        #expect(error?.description.contains("may not be changed") == true, "\(error?.description ?? "-")")
    }

    @Test("a newer release's schema is understood until it says otherwise")
    func levels() async throws {
        let options = try PostgresServer.shared.options()
        let added = Migration("2-added", statements: ["ALTER TABLE note ADD COLUMN added BIGINT"], isAdditive: true)
        let changed = Migration("3-changed", statements: ["ALTER TABLE note DROP COLUMN octets"])
        let old = try Store.notes(options)
        await (try Store.notes(options, steps: [notes, added])).close()
        #expect(try await old.isUnderstood())
        await (try Store.notes(options)).close()
        await (try Store.notes(options, steps: [notes, added, changed])).close()
        #expect(try await !old.isUnderstood())
        let error = #expect(throws: StoreError.self) { try Store.notes(options) }
        #expect(error?.reason.contains("newer version") == true && error?.retryPause == nil)
        await old.close()
    }

    @Test("over TLS only the server that the certificate names is trusted, and only with the password")
    func trust() async throws {
        let (files, foreign) = (try TestIdentities(), try TestIdentities())
        try files.issue("server", names: ["localhost"])
        let server = try PostgresServer(settings: ["ssl = on", "ssl_cert_file = 'server.crt'", "ssl_key_file = 'server.key'"]) { server in
            try server.write(String(contentsOfFile: files.path("server.crt"), encoding: .utf8), to: "server.crt")
            try server.write(String(contentsOfFile: files.path("server.key"), encoding: .utf8), to: "server.key")
        }
        try server.server.run(sql: "CREATE ROLE app LOGIN PASSWORD 'right'")
        try server.server.run(sql: "CREATE DATABASE app OWNER app")
        try files.write("right\n", "right")
        try files.write("wrong", "wrong")
        func options(_ change: (inout PostgresOptions) -> Void = { _ in }) -> PostgresOptions {
            var options = PostgresOptions(hosts: [.init(name: "localhost", port: UInt16(server.server.port))], database: "app", user: "app")
            (options.passwordFile, options.tls) = (files.path("right"), PostgresOptions.Tls(trustAnchors: files.path("ca.crt")))
            change(&options)
            return options
        }
        let store = try Store.notes(options())
        try await store.add("safe")
        #expect(try await store.value("SELECT count(*) FROM pg_stat_ssl WHERE ssl AND pid = pg_backend_pid()") == 1)
        await store.close()

        let cases: [(String, mayPass: Bool, (inout PostgresOptions) -> Void)] = [
            ("refuses the password", true, { $0.passwordFile = files.path("wrong") }),
            ("password file", true, { $0.passwordFile = files.path("absent") }),
            ("certificate", false, { $0.tls = PostgresOptions.Tls(trustAnchors: foreign.path("ca.crt")) }),
            ("127.0.0.1", false, { $0.hosts = [.init(name: "127.0.0.1", port: $0.hosts[0].port)] }),
            ("no such database", false, { $0.database = "absent" }),
            ("cannot be reached", true, { $0.hosts = [.init(name: "localhost", port: UInt16(PostgresServer.freePort()))] }),
            ("synchronous_standby_names", false, { $0.requireStandby = true }),
        ]
        for (text, mayPass, change) in cases {
            let error = #expect(throws: StoreError.self, "\(text)") { try Store.notes(options(change)) }
            #expect(
                error?.description.contains(text) == true && error?.description.contains("right") == false, "\(text): \(error?.description ?? "-")")
            #expect((error?.retryPause != nil) == mayPass, "\(text)")
        }

        // One that wants the password itself binds nothing to the connection, as a pooler does not.
        try server.server.write("local all all trust\nhostssl all all all password\n", to: "pg_hba.conf")
        try server.server.reload()
        let unbound = #expect(throws: StoreError.self) { try Store.notes(options()) }
        #expect(unbound?.description.contains("offers no channel binding: a pooler?") == true, "\(unbound?.description ?? "-")")
        let trusted = try Store.notes(
            options { $0.tls = PostgresOptions.Tls(trustAnchors: files.path("ca.crt"), requiresChannelBinding: false) })
        #expect(try await trusted.texts() == ["safe"])
        await trusted.close()
    }

    @Test("of several hosts the first that takes writes is the one, and the line of a start names what is wrong with each")
    func severalHosts() async throws {
        let server = try PostgresServer()
        try server.server.run(sql: "ALTER SYSTEM SET default_transaction_read_only = on")
        try server.server.reload()
        var options = try PostgresServer.shared.options()
        let (away, reading) = (PostgresOptions.Host(name: "127.0.0.1", port: UInt16(PostgresServer.freePort())), server.options().hosts[0])
        options.hosts = [away, reading] + options.hosts
        let store = try Store.notes(options)
        try await store.add("written")
        await store.close()
        options.hosts.removeLast()
        let error = #expect(throws: StoreError.self) { try Store.notes(options) }
        for words in ["\(away): ", "Connection refused", "\(reading): takes no writes"] {
            #expect(error?.description.contains(words) == true, "\(error?.description ?? "-")")
        }
    }

    @Test("a server that is full, takes no writes, or would lose what it acknowledged is refused, and says which")
    func states() async throws {
        let server = try PostgresServer(settings: ["superuser_reserved_connections = 0"])
        try server.server.run(sql: "CREATE ROLE narrow LOGIN CONNECTION LIMIT 0")
        try server.server.run(sql: "CREATE ROLE reading LOGIN; ALTER ROLE reading SET default_transaction_read_only = on")
        try server.server.run(sql: "CREATE ROLE hasty LOGIN SUPERUSER; ALTER ROLE hasty SET synchronous_commit = off")
        try server.server.run(sql: "CREATE ROLE small LOGIN")
        for (user, text, mayPass) in [
            ("narrow", "has no connection left", true), ("reading", "takes no writes", true), ("hasty", "synchronous_commit is off", false),
            ("small", "may not be changed", false),
        ] {
            var options = server.options(schema: "public")
            options.user = user
            let error = #expect(throws: StoreError.self, "\(user)") { try Store.notes(options) }
            #expect(error?.description.contains(text) == true, "\(user): \(error?.description ?? "-")")
            #expect((error?.retryPause != nil) == mayPass, "\(user)")
        }
    }
}
