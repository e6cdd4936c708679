@testable import ClusterCommands
@testable import CommandKit
import ContractRuntime
import Contracts
import Foundation
import PostgresServer
import Rpc
import Testing

/// Copies of `config` as two hosts have them: they share a PostgreSQL server, and one of them has the catalogue file.
@Suite("Two copies of config with one PostgreSQL", .serialized, .enabled(if: PostgresServer.isHere, PostgresServer.absence))
struct TwoConfigsTests {
    private static let operators = ["ann", "ben", "cid"]
    private static let requestors = ["ACME1", "ACME2", "BRAVO"]

    // That it takes less than a second is a case of `CopiesTests`.
    @Test("a push through one is served by the other; pushes through both make one history; services go on with the one that is left")
    func twoCopies() async throws {
        let server = try PostgresServer()
        try server.server.run(sql: "CREATE DATABASE config")
        try server.server.run(sql: "CREATE ROLE second LOGIN SUPERUSER")
        let client = HTTPExchange.makeClient()
        let cluster = try TestCluster(exchange: HTTPExchange(client: client))
        var copy: SecondCopy?
        do {
            _ = try await cluster.starter.start()
            try await cluster.restart(.config) { settings in
                settings["storage"] = ["engine": "postgres", "hosts": ["\(server.server.folder.path):\(server.server.port)"], "user": "postgres"]
                try Self.addOperators(to: &settings, cluster)
            }
            let second = try SecondCopy.start(.config, of: cluster, data: cluster.home.root.appendingPathComponent("host-b")) { settings in
                var config = try #require(settings["config"] as? [String: Any])
                config["catalogue"] = nil
                settings["config"] = config
                var storage = try #require(settings["storage"] as? [String: Any])
                storage["user"] = "second"
                settings["storage"] = storage
            }
            copy = second
            try await Condition.wait("the second copy is ready") { await second.readiness().isReady }
            let both = [ClusterAddresses(ports: cluster.ports).main(.config), second.address]
            try await cluster.restart(.gateway) { try $0.setAddresses(of: "config", both) }
            let copies = try both.map { try Self.caller(cluster, $0) }
            try await play(cluster, copies)
            try await loseStore(of: second, server, cluster, copies)
        } catch {
            Issue.record("\(copy?.output.suffix(3000) ?? "")")
            await copy?.stop()
            try? await cluster.stop()
            try await client.shutdown()
            throw error
        }
        await copy?.stop()
        try await cluster.stop()
        try await client.shutdown()
        cluster.removeState()
    }

    private static func token(_ name: String) -> String { "\(name)-0123456789abcdef0123456789abcdef" }

    private static func addOperators(to settings: inout [String: Any], _ cluster: TestCluster) throws {
        var config = try #require(settings["config"] as? [String: Any])
        var administrators = try #require(config["administrators"] as? [[String: Any]])
        for name in operators {
            let file = cluster.home.pki.appendingPathComponent("\(name).token")
            try Data(token(name).utf8).write(to: file)
            administrators.append(["name": name, "tokenFile": file.path, "role": "operator"])
        }
        config["administrators"] = administrators
        settings["config"] = config
    }

    private static func caller(_ cluster: TestCluster, _ address: String) throws -> CatalogueImporter {
        let own = try CatalogueImporter(try #require(try ClusterFile.read(cluster.home)))
        return CatalogueImporter(address: try #require(RpcAddress(address)), identity: own.identity, token: own.token)
    }

    private func play(_ cluster: TestCluster, _ copies: [CatalogueImporter]) async throws {
        for (number, (here, there)) in [(copies[0], copies[1]), (copies[1], copies[0]), (copies[0], copies[1])].enumerated() {
            let version = try await Self.rename("ACME1", to: "Round \(number)", as: "ann", editing: there, pushing: here)
            try await Condition.wait("the other copy serves it") { try await Self.served(there).version >= version }
            #expect(try await Self.served(there) == Self.served(here))
        }

        let rounds = 8
        let pushed = try await withThrowingTaskGroup { group in
            for (number, (name, requestor)) in zip(Self.operators, Self.requestors).enumerated() {
                group.addTask {
                    var versions: [UInt64] = []
                    for round in 0..<rounds {
                        let (here, there) = (copies[(number + round) % 2], copies[(number + round + 1) % 2])
                        versions.append(try await Self.rename(requestor, to: "\(name) \(round)", as: name, editing: here, pushing: there))
                    }
                    return versions
                }
            }
            return try await group.reduce(into: [UInt64]()) { $0 += $1 }
        }
        #expect(Set(pushed).count == Self.operators.count * rounds)
        for copy in copies {
            let verdict = try await copy.ask { config, context in
                try await AdministrationClient(caller: config).verifyHistory(VerifyHistoryRequest(token: Self.token("ann")), context: context)
            }
            #expect(verdict.isIntact && verdict.versions == UInt64(4 + pushed.count), "\(verdict)")
            try await Condition.wait("both serve the last push") { try await Self.served(copy).version == pushed.max() }
        }

        try cluster.process(.config).signal(SIGKILL)
        _ = try await Self.rename("ACME1", to: "Alone", as: "ann", editing: copies[1], pushing: copies[1])
        try await Condition.wait("the gateway hears the copy that is left") { try await Self.name(cluster) == "Alone" }
        _ = try await cluster.starter.start()
        try await Condition.wait("the first copy comes back to the same version") {
            try await Self.served(copies[0]) == Self.served(copies[1])
        }
    }

    /// The gateway follows the second copy by now, which is cut off from the server.
    private func loseStore(
        of second: SecondCopy, _ server: PostgresServer, _ cluster: TestCluster, _ copies: [CatalogueImporter]
    ) async throws {
        try server.server.run(sql: "ALTER ROLE second NOLOGIN")
        try server.server.run(sql: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'second'")
        let version = try await Self.rename("ACME1", to: "Without the second", as: "ann", editing: copies[0], pushing: copies[0])
        try await Condition.wait("the gateway hears the copy that the store answers") { try await Self.name(cluster) == "Without the second" }
        #expect(try await Self.served(copies[1]).version < version, "it serves what it has")
        let readiness = await second.readiness()
        #expect(!readiness.isReady && readiness.text.contains("catalogue: nothing was heard"), "\(readiness.text)")
        try server.server.run(sql: "ALTER ROLE second LOGIN")
        try await Condition.wait("the second copy hears again") { await second.readiness().isReady }
        try await Condition.wait("it serves what it missed") { try await Self.served(copies[1]).version == version }
    }

    /// The first requestor's, as apps see it.
    private static func name(_ cluster: TestCluster) async throws -> String? {
        let answer = try await cluster.send(Call("GET", "/api/v1/config/ACME1.json"))
        return (answer.object["requestor"] as? [String: Any])?["name"] as? String
    }

    private static func served(_ copy: CatalogueImporter) async throws -> Configuration {
        try await copy.ask { config, context in
            try await ConfigClient(caller: config).getConfiguration(GetConfigurationRequest(), context: context)
        }
    }

    /// - Returns: The version that it made.
    private static func rename(
        _ requestor: String, to name: String, as who: String, editing: CatalogueImporter, pushing: CatalogueImporter
    ) async throws -> UInt64 {
        let token = token(who)
        try await editing.ask { config, context in
            let administration = AdministrationClient(caller: config)
            let entity = try await administration.getEntity(
                GetEntityRequest(token: token, kind: .requestor, id: requestor), context: context)
            var members = try #require(try JSONSerialization.jsonObject(with: Data(entity.json.utf8)) as? [String: Any])
            members["name"] = name
            let json = String(decoding: try JSONSerialization.data(withJSONObject: members), as: UTF8.self)
            let request = ReplaceEntityRequest(token: token, kind: .requestor, id: requestor, json: json, ifMatch: entity.etag)
            guard case .changed = try await administration.replaceEntity(request, context: context).outcome else {
                throw CommandFailure("\(name) was refused")
            }
        }
        return try await pushing.ask { config, context in
            let request = PushDraftRequest(token: token, description: name)
            let outcome = try await AdministrationClient(caller: config).pushDraft(request, context: context).outcome
            guard case .version(let version) = outcome else { throw CommandFailure("\(name) was not pushed: \(String(describing: outcome))") }
            return version.version
        }
    }
}
