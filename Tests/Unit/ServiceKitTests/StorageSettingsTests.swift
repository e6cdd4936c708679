import Clocks
import Foundation
import PostgresServer
import Storage
import StoragePostgres
import Testing
import Tokens

@testable import ServiceKit

@Suite("Where a program keeps its store")
struct StorageSettingsTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    /// - Parameter storage: The object, or nothing.
    private func environment(_ storage: String?, lines: LogLines = LogLines()) throws -> ServiceEnvironment<NoSettings> {
        let storage = storage.map { #", "storage": \#($0)"# } ?? ""
        try folder.write(#"{"debug": {"address": "127.0.0.1", "port": 0}, "data": "data"\#(storage)}"#, to: "config.json")
        let file = folder.path + "/config.json"
        return try ServiceEnvironment(
            name: "alpha", document: SettingsReader.read(NoSettings.self, section: "alpha", file: file),
            files: SettingsFiles(settingsFile: file), logger: lines.logger("alpha"), clock: SystemClock(), metrics: PrometheusMetrics())
    }

    @Test("a store that is made is said, and one that begins anew in a file without content is warned of")
    func beginnings() async throws {
        var events: [[String]] = []
        for content in [nil, nil, ""] {
            if let content { try folder.write(content, to: "data/alpha.sqlite") }
            let lines = LogLines()
            await (try await environment(nil, lines: lines).openStore(migrations: [], postgres: [])).close()
            events.append(["store.created", "store.was_empty"].filter { lines.field("place", of: $0) != nil })
        }
        #expect(events == [["store.created"], [], ["store.was_empty"]])
    }

    @Test("no key is made beside rows that another one has sealed; where there are none it is, and stays")
    func lostKey() async throws {
        let environment = try environment(nil)
        let store = try await environment.openStore(
            migrations: [Migration("1", sql: "CREATE TABLE sealed_thing (sealed BLOB NOT NULL)")], postgres: [])
        func path() async throws -> String {
            try await environment.keyFile(nil, else: "things.key", .symmetric, setting: "alpha.thingsKey", sealing: "sealed_thing", in: store)
        }
        let made = try await path()
        let key = try String(contentsOfFile: made, encoding: .utf8)
        try await store.change("INSERT INTO sealed_thing (sealed) VALUES (x'00')")
        #expect(try await path() == made)
        try FileManager.default.removeItem(atPath: made)
        let failure = await #expect(throws: StartFailure.self) { try await path() }
        let text = failure.map { "\($0)" } ?? ""
        #expect(text.contains("things.key is not there, and 1 rows of the table sealed_thing") && text.contains("alpha.thingsKey"), "\(text)")
        #expect(!FileManager.default.fileExists(atPath: made))
        try Data(key.utf8).write(to: URL(fileURLWithPath: made))
        #expect(try await path() == made)
        await store.close()
    }

    @Test("without a word, and by its name, it is a file", arguments: [nil, "{}", #"{"engine": "sqlite"}"#])
    func file(storage: String?) async throws {
        let store = try await environment(storage).openStore(migrations: [], postgres: [])
        #expect(store.place == folder.path + "/data/alpha.sqlite" && store.isCoherent && store.trouble == nil)
        await store.close()
    }

    @Test("a server's settings have defaults, and files are relative to the settings")
    func server() throws {
        let short = try environment(#"{"engine": "postgres"}"#)
        let options = PostgresOptions(short.common.storage, program: "alpha", files: short.files)
        #expect(options.place == "postgres://alpha@127.0.0.1:5432/alpha")
        #expect(
            (options.readConnections, options.writeConnections, options.interactive) == (2, 2, 8) && options.isPrepared && !options.requireStandby)
        let long = try environment(
            """
            {"engine": "postgres", "hosts": ["db-a.example:5433", "[2001:db8::1]:5432"], "database": "d", "user": "u", "passwordFile": "p",
             "tls": {"trustAnchors": "ca.crt", "certificate": "/c", "key": "k", "channelBinding": "prefer"}, "requireStandby": true, "lanes": {"read": 1, "interactive": 3},
             "prepared": false}
            """)
        var expected = PostgresOptions(
            hosts: [.init(name: "db-a.example", port: 5433), .init(name: "2001:db8::1", port: 5432)], database: "d", user: "u")
        expected.passwordFile = folder.path + "/p"
        expected.tls = PostgresOptions.Tls(
            trustAnchors: folder.path + "/ca.crt", certificate: "/c", key: folder.path + "/k", requiresChannelBinding: false)
        (expected.requireStandby, expected.isPrepared, expected.readConnections, expected.interactive) = (true, false, 1, 3)
        #expect(PostgresOptions(long.common.storage, program: "alpha", files: long.files) == expected)
        // The command line gets to know this of it.
        let described = StoreDescription.Server(long.common.storage, program: "alpha", files: long.files)
        #expect(described.channelBinding == "prefer" && described.options.tls == expected.tls)
        let bound = try environment(
            #"{"engine": "postgres", "hosts": ["db.example:5432"], "passwordFile": "p", "tls": {"trustAnchors": "a", "channelBinding": "require"}}"#)
        #expect(PostgresOptions(bound.common.storage, program: "alpha", files: bound.files).tls?.requiresChannelBinding == true)
        #expect(StoreDescription.Server(bound.common.storage, program: "alpha", files: bound.files).options.tls?.requiresChannelBinding == true)
    }

    @Test(
        "what cannot be is refused by its key",
        arguments: [
            (#"{"engine": "mysql"}"#, "storage.engine must be one of sqlite, postgres; it is 'mysql'"),
            (#"{"hosts": ["h:1"]}"#, "storage.hosts has no meaning"),
            (#"{"engine": "postgres", "hosts": []}"#, "storage.hosts must have at least one"),
            (#"{"engine": "postgres", "hosts": ["h"]}"#, "storage.hosts must hold host:port"),
            (#"{"engine": "postgres", "hosts": ["db.example:5432"]}"#, "storage.tls is missing"),
            (#"{"engine": "postgres", "tls": {"trustAnchors": "ca", "key": "k"}}"#, "storage.tls must have certificate and key, or neither"),
            (
                #"{"engine": "postgres", "passwordFile": "p", "tls": {"trustAnchors": "ca", "channelBinding": "off"}}"#,
                "storage.tls.channelBinding must be one of require, prefer; it is 'off'"
            ),
            (
                #"{"engine": "postgres", "tls": {"trustAnchors": "ca", "channelBinding": "prefer"}}"#,
                "storage.tls has channelBinding, which is about a password"
            ),
            (#"{"engine": "postgres", "lanes": {"read": 0}}"#, "storage.lanes.read must be from 1 to 64; it is 0"),
            (#"{"engine": "postgres", "user": ""}"#, "storage.user must not be empty"),
            (#"{"engine": "postgres", "password": "p"}"#, "storage.password (line 1, column 98) is not known here"),
            (#"{"engine": "postgres", "lanes": {"reads": 1}}"#, "storage.lanes.reads (line 1, column 108) is not known here"),
        ])
    func refuses(storage: String, words: String) {
        let failure = #expect(throws: StartFailure.self) { try environment(storage) }
        #expect(failure?.lines.first?.contains(words) == true, "\(failure?.lines ?? [])")
    }

    @Test("a program that has no tables there says so")
    func unknown() async throws {
        let environment = try environment(#"{"engine": "postgres"}"#)
        let failure = await #expect(throws: StartFailure.self) { try await environment.openStore(migrations: []) }
        #expect(failure?.lines.first?.contains("keeps no store of alpha yet") == true)
    }

    @Test("a server that is there is used, and readiness follows it", .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    func opens() async throws {
        let server = try PostgresServer()
        let environment = try environment(
            #"{"engine": "postgres", "hosts": ["\#(server.server.folder.path):\#(server.server.port)"], "database": "postgres", "user": "postgres"}"#)
        let steps = [Migration("1", statements: ["CREATE TABLE IF NOT EXISTS t (x BIGINT)"])]
        let store = try await environment.openStore(migrations: [], postgres: steps)
        #expect(!store.isCoherent && environment.readiness.lacking == [])
        #expect(try await store.change("INSERT INTO t (x) VALUES (1)") == 1)
        try server.server.stop()
        try await eventually("it is told") { environment.readiness.lacking.contains { $0.hasPrefix("storage: PostgreSQL: ") } }
        try server.server.start()
        try await eventually("it is well again") { environment.readiness.lacking == [] }
        #expect(try await store.value("SELECT count(*) FROM t") == 1)
        await store.close()
    }

    @Test(
        "a start waits for a server that is away, refuses the password, has no connection left, takes no writes or commits nothing, and says for which",
        .enabled(if: PostgresServer.isHere, PostgresServer.absence), .timeLimit(.minutes(3)))
    func waits() async throws {
        let server = try PostgresServer(settings: ["wal_level = replica", "max_wal_senders = 2"])
        func run(_ statements: String...) throws { for statement in statements { try server.server.run(sql: statement) } }
        // The program that changes the server waits for no standby.
        try run("ALTER ROLE postgres SET synchronous_commit = local", "ALTER ROLE postgres SET default_transaction_read_only = off")
        try run("CREATE ROLE alpha LOGIN PASSWORD 'right'", "CREATE DATABASE alpha OWNER alpha")
        let steps = [Migration("1", statements: ["CREATE TABLE IF NOT EXISTS t (x BIGINT)"])]
        try folder.write("right", to: "password")
        let storage = #"{"engine": "postgres", "hosts": ["127.0.0.1:\#(server.server.port)"], "passwordFile": "password"}"#
        await (try await self.environment(storage).openStore(migrations: [], postgres: steps)).close()
        try run("ALTER SYSTEM SET default_transaction_read_only = on", "ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        try run("ALTER ROLE alpha CONNECTION LIMIT 0")
        try server.server.stop()
        try folder.write("wrong", to: "password")

        let lines = LogLines()
        let environment = try self.environment(storage, lines: lines)
        let program = Task {
            try await environment.serve(stoppedBy: []) {
                let store = try await environment.openStore(migrations: [], postgres: steps)
                try await environment.requireKnown([KeyFingerprint("alpha.sealKey", current: [1], older: [])], in: store)
            }
        }
        func waits(_ words: String) async throws {
            try await eventually(words) {
                let lacking = environment.readiness.lacking
                return lacking.count == 1 && lacking[0].hasPrefix("storage: waiting: ") && lacking[0].contains(words)
            }
        }
        try await waits("cannot be reached")
        let port = try #require(lines.field("port", of: "debug.listening").flatMap { Int($0) })
        #expect(try await ask("/healthz", port: port).status == 200)
        let ready = try await ask("/readyz", port: port)
        #expect(ready.status == 503 && ready.text.hasPrefix("storage: waiting: cannot be reached ("), "\(ready)")
        try server.server.start()
        try await waits("refuses the password")
        try folder.write("right\n", to: "password")
        try await waits("has no connection left")
        try run("ALTER ROLE alpha CONNECTION LIMIT -1")
        try await waits("takes no writes")
        try run("ALTER SYSTEM RESET default_transaction_read_only")
        try server.server.reload()
        // The message of a heartbeat that is not committed.
        try await waits("PostgreSQL: ")
        try run("ALTER SYSTEM RESET synchronous_standby_names")
        try server.server.reload()
        try await eventually("it is ready") { try await ask("/readyz", port: port) == (200, "ready\n") }
        let reasons = lines.fields("reason", of: "store.waiting")
        for words in ["cannot be reached", "refuses the password", "has no connection left", "takes no writes", "PostgreSQL: "] {
            #expect(reasons.contains { $0.contains(words) }, "\(words): \(reasons)")
        }
        #expect(reasons.count < 20 && lines.field("seconds", of: "store.waited") != nil, "a line at each change: \(reasons)")
        program.cancel()
        _ = await program.result
    }

    @Test("pauses between tries of a start grow from 0.2 s to their bound")
    func pauses() {
        for bound in [Duration.milliseconds(2500), .seconds(5)] {
            var pause = StartPause()
            let all = (0..<20).map { _ in pause.next(upTo: bound) }
            #expect(all.allSatisfy { $0 >= .milliseconds(200) && $0 <= bound } && all[0] == .milliseconds(200))
            #expect(all[8...].allSatisfy { $0 >= bound / 2 })
        }
    }

    @Test("a password file that is not there, and trust anchors that are none, are wrong settings")
    func filesOfStorage() throws {
        try folder.write("no certificate", to: "ca.crt")
        try folder.write("right", to: "password")
        for (storage, words) in [
            (#"{"engine": "postgres", "passwordFile": "absent"}"#, "storage.passwordFile names the file"),
            (#"{"engine": "postgres", "passwordFile": "password", "tls": {"trustAnchors": "ca.crt"}}"#, "storage.tls.trustAnchors names the file"),
        ] {
            let environment = try self.environment(storage)
            let failure = #expect(throws: StartFailure.self) { try environment.common.storage.check(environment.files) }
            #expect(failure?.isOfSettings == true && failure?.lines.first?.contains(words) == true, "\(failure?.lines ?? [])")
        }
        let good = try self.environment(#"{"engine": "postgres", "passwordFile": "password"}"#)
        try good.common.storage.check(good.files)
    }

    @Test(
        "a secret key that no copy had is refused by name, and signing keys of each copy count at all",
        .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    func keysOfCopies() async throws {
        let server = try PostgresServer()
        let storage =
            #"{"engine": "postgres", "hosts": ["\#(server.server.folder.path):\#(server.server.port)"], "database": "postgres", "user": "postgres"}"#
        let steps = [Migration("1", statements: ["CREATE TABLE IF NOT EXISTS t (x BIGINT)"])]
        let copies = try (0..<2).map { _ in try environment(storage) }
        var stores: [Store] = []
        for copy in copies { stores.append(try await copy.openStore(migrations: [], postgres: steps)) }
        func key(_ octet: UInt8, older: [UInt8] = []) -> KeyFingerprint {
            KeyFingerprint("alpha.sealKey", current: [octet], older: older.map { [$0] })
        }
        try await copies[0].requireKnown([key(1)], in: stores[0])
        try await copies[1].requireKnown([key(1)], in: stores[1])
        let failure = await #expect(throws: StartFailure.self) { try await copies[1].requireKnown([key(2)], in: stores[1]) }
        #expect(failure?.lines.count == 1)
        for words in ["alpha.sealKey names a key that no copy has used", "copy the file", "DELETE FROM key_check WHERE name = 'alpha.sealKey'"] {
            #expect(failure?.lines[0].contains(words) == true, "\(failure?.lines ?? [])")
        }
        try await copies[1].requireKnown([key(2, older: [1])], in: stores[1])

        let keys = try (0..<2).map { _ in
            SigningKeyRotation(SigningKeyFiles(current: JoseSigningKey(try .generate())), lead: .seconds(60), tokenLife: .seconds(3600))
        }
        for (number, copy) in copies.enumerated() { try await copy.share(keys[number], named: "token", in: stores[number]) {} }
        // The first one hears of the second one's a second later, once it runs.
        try await copies[0].share(keys[0], named: "token", in: stores[0]) {}
        for keys in keys { #expect(keys.keys.keySet.keys.count == 2) }
        for store in stores { await store.close() }

        let file = try await environment(nil).openStore(migrations: [], postgres: steps)
        try await copies[0].requireKnown([key(9)], in: file)
        await file.close()
    }
}
