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
            await (try environment(nil, lines: lines).openStore(migrations: [], postgres: [])).close()
            events.append(["store.created", "store.was_empty"].filter { lines.field("place", of: $0) != nil })
        }
        #expect(events == [["store.created"], [], ["store.was_empty"]])
    }

    @Test("no key is made beside rows that another one has sealed; where there are none it is, and stays")
    func lostKey() async throws {
        let environment = try environment(nil)
        let store = try environment.openStore(migrations: [Migration("1", sql: "CREATE TABLE sealed_thing (sealed BLOB NOT NULL)")], postgres: [])
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
        let store = try environment(storage).openStore(migrations: [], postgres: [])
        #expect(store.place == folder.path + "/data/alpha.sqlite" && store.isCoherent && store.trouble == nil)
        await store.close()
    }

    @Test("a server's settings have defaults, and files are relative to the settings")
    func server() throws {
        let short = try environment(#"{"engine": "postgres"}"#)
        let options = PostgresOptions(short.common.storage, program: "alpha", files: short.files)
        #expect(options.place == "postgres://alpha@127.0.0.1:5432/alpha")
        #expect((options.readLanes, options.writeLanes, options.interactive) == (2, 2, 8) && options.isPrepared && !options.requireStandby)
        let long = try environment(
            """
            {"engine": "postgres", "hosts": ["db-a.example:5433", "[2001:db8::1]:5432"], "database": "d", "user": "u", "passwordFile": "p",
             "tls": {"trustAnchors": "ca.crt", "certificate": "/c", "key": "k"}, "requireStandby": true, "lanes": {"read": 1, "interactive": 3},
             "prepared": false}
            """)
        var expected = PostgresOptions(
            hosts: [.init(name: "db-a.example", port: 5433), .init(name: "2001:db8::1", port: 5432)], database: "d", user: "u")
        expected.passwordFile = folder.path + "/p"
        expected.tls = PostgresOptions.Tls(trustAnchors: folder.path + "/ca.crt", certificate: "/c", key: folder.path + "/k")
        (expected.requireStandby, expected.isPrepared, expected.readLanes, expected.interactive) = (true, false, 1, 3)
        #expect(PostgresOptions(long.common.storage, program: "alpha", files: long.files) == expected)
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
    func unknown() throws {
        let environment = try environment(#"{"engine": "postgres"}"#)
        let failure = #expect(throws: StartFailure.self) { try environment.openStore(migrations: []) }
        #expect(failure?.lines.first?.contains("keeps no store of alpha yet") == true)
    }

    @Test("a server that is there is used, and readiness follows it", .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    func opens() async throws {
        let server = try PostgresServer()
        let environment = try environment(
            #"{"engine": "postgres", "hosts": ["\#(server.server.folder.path):\#(server.server.port)"], "database": "postgres", "user": "postgres"}"#)
        let steps = [Migration("1", statements: ["CREATE TABLE IF NOT EXISTS t (x BIGINT)"])]
        let store = try environment.openStore(migrations: [], postgres: steps)
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
        "a secret key that no copy had is refused by name, and signing keys of each copy count at all",
        .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    func keysOfCopies() async throws {
        let server = try PostgresServer()
        let storage =
            #"{"engine": "postgres", "hosts": ["\#(server.server.folder.path):\#(server.server.port)"], "database": "postgres", "user": "postgres"}"#
        let steps = [Migration("1", statements: ["CREATE TABLE IF NOT EXISTS t (x BIGINT)"])]
        let copies = try (0..<2).map { _ in try environment(storage) }
        let stores = try copies.map { try $0.openStore(migrations: [], postgres: steps) }
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
            SigningKeyRotation(SigningKeyFiles(current: SigningKey(try .generate())), lead: .seconds(60), tokenLife: .seconds(3600))
        }
        for (number, copy) in copies.enumerated() { try await copy.share(keys[number], named: "token", in: stores[number]) {} }
        // The first one hears of the second one's a second later, once it runs.
        try await copies[0].share(keys[0], named: "token", in: stores[0]) {}
        for keys in keys { #expect(keys.keys.keySet.keys.count == 2) }
        for store in stores { await store.close() }

        let file = try environment(nil).openStore(migrations: [], postgres: steps)
        try await copies[0].requireKnown([key(9)], in: file)
        await file.close()
    }
}
