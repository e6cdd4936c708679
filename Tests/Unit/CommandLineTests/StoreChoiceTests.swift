@testable import ClusterCommands
@testable import CommandKit
internal import Foundation
internal import PrivatePostgres
internal import Testing

@Suite("Where a cluster keeps its stores")
struct StoreChoiceTests {
    private static let checkout = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardizedFileURL

    @Test("a word or an address says where")
    func choices() throws {
        #expect(try StoreChoice(nil) == .asBefore)
        #expect(try StoreChoice("sqlite") == .files)
        #expect(try StoreChoice("postgres") == .privateServer)
        #expect(
            try StoreChoice("postgres://me:s%20t@db.example:5433?sslrootcert=/ca.pem")
                == .server(.init(host: "db.example", port: 5433, user: "me", password: "s t", trustAnchors: "/ca.pem")))
        // These are done anyway.
        #expect(
            try StoreChoice("postgres://me@db?target_session_attrs=read-write&sslmode=verify-full&sslrootcert=/ca.pem")
                == .server(.init(host: "db", port: 5432, user: "me", password: "", trustAnchors: "/ca.pem")))
        #expect(
            try StoreChoice("postgres://me@db?sslmode=disable")
                == .server(.init(host: "db", port: 5432, user: "me", password: "", trustAnchors: nil)))
        #expect(
            try StoreChoice("postgresql://me@[::1]/") == .server(.init(host: "::1", port: 5432, user: "me", password: "", trustAnchors: nil)))
    }

    @Test(
        "anything else is refused",
        arguments: [
            "", "mysql", "http://me@db", "postgres://db.example", "postgres://me@", "postgres://me@db/name", "postgres://me@db?sslmode=require",
            "postgres://me@db?sslmode=disable&sslrootcert=/ca.pem", "postgres://me@db?sslrootcert=", "postgres://me@db?application_name=x",
            "postgres://me@db?target_session_attrs=any",
        ])
    func refused(text: String) {
        #expect(throws: CommandFailure.self) { try StoreChoice(text) }
    }

    @Test(
        "a refusal shows no password",
        arguments: ["postgres://me:s3cret@", "http://me:s3 cret@db", "postgres://me:s3cret", "mysql://me:s3cret@db/x"])
    func hidesPasswords(text: String) {
        let failure = #expect(throws: CommandFailure.self) { try StoreChoice(text) }
        let shown = failure.map { "\($0)" } ?? ""
        #expect(shown.contains("me:[hidden]") && !shown.contains("s3") && !shown.contains("cret"), "\(shown)")
    }

    @Test(
        "below a folder that is root's alone, the cluster's own server says so, and points to no log that is not there",
        .enabled(if: getuid() == 0 && PrivatePostgres.installed != nil, "needs root and PostgreSQL"))
    func belowRoot() throws {
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("root-\(UUID().uuidString.prefix(8))")
        defer { try? FileManager.default.removeItem(at: place) }
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let home = ClusterHome(root: place.appendingPathComponent("home"))
        try home.prepare()
        let failure = #expect(throws: CommandFailure.self) {
            try ClusterStore(home: home, ports: PortPlan(base: 22000), choice: .privateServer).prepare()
        }
        let text = failure.map { "\($0)" } ?? ""
        #expect(text.contains("may not enter \(home.root.path)") && text.contains("BOXOFFICE_HOME") && !text.contains("/log"), "\(text)")
    }

    @Test("the choice is kept until another one is made, and names the services that it moves")
    func settings() throws {
        let home = ClusterHome(root: FileManager.default.temporaryDirectory.appendingPathComponent("home-\(UUID().uuidString)"))
        defer { try? FileManager.default.removeItem(at: home.root) }
        try home.prepare()
        let ports = PortPlan(base: 22000)
        func write(_ choice: StoreChoice) throws -> Set<ClusterService> {
            let moved = ClusterStore(home: home, ports: ports, choice: choice).moved
            try SettingsWriter(
                home: home, ports: ports, checkout: Self.checkout, pki: LocalPki(folder: home.pki), replacements: [], store: choice
            ).write()
            return moved
        }
        func storage(_ service: ClusterService) throws -> NSDictionary? {
            let content = try JSONSerialization.jsonObject(with: Data(contentsOf: home.settings(of: service))) as? [String: Any]
            return (content?["storage"] as? [String: Any]).map { NSDictionary(dictionary: $0) }
        }
        let server = StoreChoice.server(.init(host: "::1", port: 5433, user: "me", password: "secret", trustAnchors: "/ca.pem"))
        #expect(try write(.asBefore) == [])
        #expect(try storage(.authentication) == nil)
        for choice in [server, .asBefore] {
            #expect(try write(choice) == (choice == server ? [.config, .authentication, .authorization, .autosignin] : []))
            #expect(
                try storage(.authentication) == [
                    "engine": "postgres", "hosts": ["[::1]:5433"], "user": "me", "passwordFile": home.pki.path + "/postgres-server.password",
                    "tls": ["trustAnchors": "/ca.pem"],
                ])
        }
        #expect(try write(.privateServer) == [.config, .authentication, .authorization, .autosignin])
        #expect(try storage(.authorization)?["hosts"] as? [String] == ["127.0.0.1:22007"])
        #expect(try storage(.gateway) == nil)
        #expect(try write(.files) == [.config, .authentication, .authorization, .autosignin])
        #expect(try storage(.authorization) == nil)
    }
}
