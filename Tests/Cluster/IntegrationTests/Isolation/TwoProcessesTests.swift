@testable import Simulation
@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Storage
import Testing

/// Two processes of one service beside each other, as a rolling update or a second host makes them.
@Suite("Two processes of one service", .serialized)
struct TwoProcessesTests {
    @Test("a copy that is up but not ready gets no calls, and gets its share once it is")
    func unreadyCopiesGetNoCalls() async throws {
        try await withCluster { cluster in
            let empty = cluster.home.root.appendingPathComponent("second-data")
            // Without config it never has a catalogue, so it is never ready.
            let unready = try SecondCopy.start(.authorization, of: cluster, data: empty) { try $0.setAddresses(of: "config", ["127.0.0.1:1"]) }
            try await Condition.wait("the second copy is up") { await unready.readiness().text.contains("catalogue") }
            let first = ClusterAddresses(ports: cluster.ports).main(.authorization)
            try await cluster.restart(.gateway) { try $0.setAddresses(of: "authorization", [first, unready.address]) }
            let app = try await cluster.app()
            _ = try await cluster.signIn(app, code: try await app.requestCode().code)
            let watched = try await unready.calls(of: "platform.v1.Health")
            #expect(watched > 0 || unready.output.contains("rpc"), "the gateway is connected to it")
            for _ in 0..<20 { _ = try await app.authorize("ACME1-NEWS") }
            #expect(try await unready.calls(of: "authorization.v1.Authorization") == 0)
            await unready.stop()

            let ready = try SecondCopy.start(.authorization, of: cluster, data: empty) { settings in
                var own = settings["authorization"] as? [String: Any] ?? [:]
                own["copy"] = 7
                settings["authorization"] = own
            }
            try await Condition.wait("the second copy is ready") { await ready.readiness().isReady }
            try await cluster.restart(.gateway) { try $0.setAddresses(of: "authorization", [first, ready.address]) }
            // A device's calls stay at one copy.
            for _ in 0..<20 { _ = try? await cluster.app().authorize("ACME1-NEWS") }
            #expect(try await ready.calls(of: "authorization.v1.Authorization") > 0)
            await ready.stop()
        }
    }

    @Test("a config that is behind takes nothing back from the gateway")
    func aConfigThatIsBehind() async throws {
        try await withCluster { cluster in
            let old = cluster.home.root.appendingPathComponent("old-config")
            _ = await ClusterStopper.stop([try cluster.process(.config)])
            try FileManager.default.copyItem(at: cluster.home.data.appendingPathComponent("config"), to: old)
            _ = try await cluster.starter.start()
            let administrator = try Administrator.of(cluster)
            try await Condition.wait("the gateway has found config again") { try await administrator.send("DELETE", "/draft").status == 204 }
            _ = try await administrator.change("/requestors/ACME2") { $0["name"] = "Acme Newer" }
            try await administrator.push("newer")
            func name() async throws -> String? {
                let answer = try await cluster.exchange.send("GET", "\(cluster.gateway)/api/v1/config/ACME2.json")
                return (answer.object["requestor"] as? [String: Any])?["name"] as? String
            }
            try await Condition.wait("the push") { try await name() == "Acme Newer" }

            let behind = try SecondCopy.start(.config, of: cluster, data: old)
            try await Condition.wait("the old copy is ready") { await behind.readiness().isReady }
            let current = ClusterAddresses(ports: cluster.ports).main(.config)
            try await cluster.restart(.gateway) { try $0.setAddresses(of: "config", [behind.address]) }
            try await Condition.wait("it was offered the older version") { try !cluster.gatewayLog("catalogue.older_ignored").isEmpty }
            #expect(try await name() == "Acme Newer")
            // Ignored content was not kept either: with the current copy again nothing is newer.
            try await cluster.restart(.gateway) { try $0.setAddresses(of: "config", [current]) }
            #expect(try await name() == "Acme Newer")
            await behind.stop()
        }
    }

    @Test("two configs on one store publish one version, also when each starts again, and when another release encodes it in other octets")
    func twoConfigsAgree() async throws {
        try await withCluster { cluster in
            let file = cluster.home.data.appendingPathComponent("config/config.sqlite").path
            let before = try Self.published(file)
            func versions(_ output: String) -> [Substring] {
                output.split(separator: "\n").filter { $0.contains("\"catalogue.unchanged\"") || $0.contains("\"catalogue.accepted\"") }
            }
            for round in 0..<3 {
                if round == 1 { try Self.encodeAsALaterRelease(file) }
                let second = try SecondCopy.start(.config, of: cluster)
                try await Condition.wait("the second copy is ready") { await second.readiness().isReady }
                try await Condition.wait("it says which version it found") { !versions(second.output).isEmpty }
                #expect(versions(second.output).count == 1 && versions(second.output)[0].contains("catalogue.unchanged"), "\(second.output)")
                await second.stop()
                try await cluster.restart(.config)
            }
            let log = try String(contentsOf: cluster.home.log(of: .config), encoding: .utf8)
            #expect(versions(log).filter { $0.contains("catalogue.accepted") }.count == 1, "the first start is the only change")
            let after = try Self.published(file)
            #expect(before.version == after.version && after.content == before.content + Self.later, "nobody has encoded it anew")
        }
    }

    @Test(
        "the release before goes on with a store that a newer one has added to, and leaves service when that one needs more",
        arguments: [ClusterService.config, .authentication, .authorization, .autosignin])
    func aNewerReleaseMigrates(service: ClusterService) async throws {
        try await withCluster { cluster in
            let file = cluster.home.data.appendingPathComponent("\(service.rawValue)/\(service.rawValue).sqlite").path
            // A newer release adds a step that this one does not know.
            try Self.sqlite(
                file,
                "CREATE TABLE of_a_newer_release (x INTEGER); INSERT INTO grdb_migrations VALUES ('999-newer'); UPDATE schema_level SET current = current + 1;"
            )
            let second = try SecondCopy.start(service, of: cluster)
            do {
                try await Condition.wait("this release starts beside it") { await second.readiness().isReady }
            } catch {
                Issue.record("\(await second.readiness().text) \(second.output)")
                throw error
            }
            let app = try await cluster.app()
            _ = try await cluster.signIn(app, code: try await app.requestCode().code)
            #expect(try await app.isSignedIn())

            try Self.sqlite(file, "UPDATE schema_level SET least = current;")
            try await Condition.wait("the running process leaves service") { await second.readiness().text.contains("newer version") }
            #expect(second.process.isRunning)
            await second.stop()
            let refused = try SecondCopy.start(service, of: cluster)
            try await Condition.wait("a start is refused") { !refused.process.isRunning }
            #expect(refused.output.contains("was written by a newer version"), "\(refused.output)")
        }
    }

    /// A field that this release does not know: number 4000, of type text.
    private static let later = "82fa01036e6577"

    /// The published version, and its octets in hexadecimal digits.
    private static func published(_ file: String) throws -> (version: String, content: String) {
        let script = """
            import sqlite3, sys
            print(*sqlite3.connect(sys.argv[1], timeout=10).execute('SELECT version, hex(content) FROM published').fetchone())
            """
        let outcome = try Program.run("/usr/bin/python3", ["-c", script, file])
        let words = outcome.output.lowercased().split(separator: /\s+/)
        try #require(outcome.status == 0 && words.count == 2, "\(outcome.output)")
        return (String(words[0]), String(words[1]))
    }

    /// The same version, with a field more: as the release after this one would have written it.
    private static func encodeAsALaterRelease(_ file: String) throws {
        let content = try published(file).content + later
        try sqlite(file, "UPDATE published SET content = X'\(content)';")
    }

    /// By the program, as a neighbour would write.
    static func sqlite(_ file: String, _ statements: String) throws {
        let script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], timeout=10); c.executescript(sys.argv[2]); c.commit()"
        let outcome = try Program.run("/usr/bin/python3", ["-c", script, file, statements])
        try #require(outcome.status == 0, "\(outcome.output)")
    }

    func withCluster(_ body: (TestCluster) async throws -> Void) async throws {
        let client = HTTPExchange.makeClient()
        let cluster = try TestCluster(exchange: HTTPExchange(client: client))
        do {
            _ = try await cluster.starter.start()
            try await body(cluster)
        } catch {
            try? await cluster.stop()
            try await client.shutdown()
            throw error
        }
        try await cluster.stop()
        try await client.shutdown()
        cluster.removeState()
    }
}
