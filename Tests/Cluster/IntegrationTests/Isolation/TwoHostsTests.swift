@testable import ClusterCommands
@testable import CommandKit
@testable import Simulation
import Foundation
import PostgresServer
import Testing
import Tokens

/// Copies of the services as two hosts have them: they share a PostgreSQL server and secret keys, and nothing else.
@Suite("Two hosts with one PostgreSQL", .serialized, .enabled(if: PostgresServer.isHere, PostgresServer.absence))
struct TwoHostsTests {
    private static let services: [ClusterService] = [.authentication, .authorization]

    @Test("what one copy does the other knows at once; neither the death of a copy nor that of the server loses anything")
    func twoHosts() async throws {
        let server = try PostgresServer()
        for service in Self.services { try server.server.run(sql: "CREATE DATABASE \"\(service.rawValue)\"") }
        let client = HTTPExchange.makeClient()
        let cluster = try TestCluster(exchange: HTTPExchange(client: client))
        var copies: [SecondCopy] = []
        do {
            _ = try await cluster.starter.start()
            for service in Self.services {
                try await cluster.restart(service) {
                    $0["storage"] = ["engine": "postgres", "hosts": ["\(server.server.folder.path):\(server.server.port)"], "user": "postgres"]
                }
            }
            copies = try await addHost(to: cluster)
            try await play(cluster, copies, server)
        } catch {
            for copy in copies { Issue.record("\(copy.output.suffix(2000))") }
            for copy in copies { await copy.stop() }
            try? await cluster.stop()
            try await client.shutdown()
            throw error
        }
        for copy in copies { await copy.stop() }
        try await cluster.stop()
        try await client.shutdown()
        cluster.removeState()
    }

    /// A second copy of both services, with a data folder of its own that has the first one's secret keys; everybody knows both.
    private func addHost(to cluster: TestCluster) async throws -> [SecondCopy] {
        let addresses = ClusterAddresses(ports: cluster.ports)
        var copies: [SecondCopy] = []
        for service in Self.services {
            let (own, data) = (
                cluster.home.data.appendingPathComponent(service.rawValue), cluster.home.root.appendingPathComponent("host-b-\(service)")
            )
            try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
            // It would open nothing of the other one's.
            if service == .authentication { try await expectRefusal(of: service, cluster, data) }
            // Keys that sign are its own.
            for file in ["secrets.key", "sdk-seal.key"] where service == .authentication {
                try? FileManager.default.removeItem(at: data.appendingPathComponent(file))
                try FileManager.default.copyItem(at: own.appendingPathComponent(file), to: data.appendingPathComponent(file))
            }
            let copy = try SecondCopy.start(service, of: cluster, data: data)
            copies.append(copy)
            try await Condition.wait("the second \(service) is ready") { await copy.readiness().isReady }
        }
        let both = Dictionary(uniqueKeysWithValues: copies.map { ($0.service.rawValue, [addresses.main($0.service), $0.address]) })
        try await cluster.restart(.authorization) { try $0.setAddresses(of: "authentication", both["authentication"] ?? []) }
        try await cluster.restart(.gateway) { settings in
            for (name, addresses) in both { try settings.setAddresses(of: name, addresses) }
        }
        return copies
    }

    private func expectRefusal(of service: ClusterService, _ cluster: TestCluster, _ data: URL) async throws {
        let copy = try SecondCopy.start(service, of: cluster, data: data)
        try await Condition.wait("it names both keys") {
            ["secretsKey", "sdkSealKey"].allSatisfy { copy.output.contains("authentication.\($0) names a key that no copy has used with the store") }
        }
        await copy.stop()
    }

    /// Each copy publishes the keys of both.
    private func expectSharedKeys(_ cluster: TestCluster) async throws {
        var answers: Set<Set<String>> = []
        for _ in 0..<8 {
            let answer = try await cluster.send(Call("GET", "/.well-known/sdk-token-keys"))
            answers.insert(Set(try JSONWebKeySet(json: answer.text).keys.map(\.identifier)))
        }
        #expect(answers.count == 1 && answers.first?.count == 4, "\(answers)")
    }

    private func play(_ cluster: TestCluster, _ copies: [SecondCopy], _ server: PostgresServer) async throws {
        try await expectSharedKeys(cluster)
        var apps: [StreamingApp] = []
        for _ in 0..<6 {
            let app = try await cluster.app()
            // Each call goes to another copy: what one of them writes the next one reads.
            _ = try await cluster.signIn(app, code: try await app.requestCode().code)
            for _ in 0..<4 { #expect(try await app.isSignedIn()) }
            _ = try await app.authorize("ACME1-NEWS")
            for _ in 0..<4 { _ = try await app.mediaToken("ACME1-NEWS") }
            apps.append(app)
        }
        let leaver = try await cluster.app()
        for _ in 0..<4 {
            _ = try await cluster.signIn(leaver, code: try await leaver.requestCode().code)
            for _ in 0..<4 { #expect(try await leaver.isSignedIn()) }
            let answer = try await leaver.send("DELETE", "/api/v1/logout?\(leaver.deviceSet())")
            #expect(answer.status == 204, "\(answer.text)")
            for _ in 0..<6 { #expect(try await !leaver.isSignedIn()) }
        }
        for copy in copies { #expect(try await copy.calls(of: "v1.Auth") + copy.calls(of: "v1.Sessions") > 0, "\(copy.service) took part") }

        for copy in copies { copy.process.signal(SIGKILL) }
        try await Condition.wait("all goes on with the first copies") { await Self.allWell(apps) }

        try server.server.stop(isKilled: true)
        try await expectRefusals(apps[0])
        try server.server.start()
        try await Condition.wait("everybody is still signed in") { await Self.allWell(apps) }
    }

    /// Reads and changes alike are refused within a second each from the moment that the server is dead, and are told when to come again.
    private func expectRefusals(_ app: StreamingApp) async throws {
        for _ in 0..<5 {
            for (method, path, body) in [
                ("GET", "/api/v1/checkauthn?\(app.deviceSet())", nil), ("GET", "/api/v1/tokens/authn?\(app.deviceSet())", nil),
                ("POST", "/reggie/v1/ACME1/regcode", "deviceId=\(app.deviceID)"),
            ] as [(String, String, String?)] {
                let start = ContinuousClock.now
                let form = body == nil ? [] : [("Content-Type", "application/x-www-form-urlencoded")]
                let answer = try await app.send(method, path, headers: form, body: body)
                #expect(start.duration(to: .now) < .seconds(1), "\(method) \(path): \(start.duration(to: .now))")
                #expect(answer.status == 503 && answer.header("retry-after") != nil, "\(method) \(path): \(answer.status) \(answer.text)")
            }
        }
    }

    private static func allWell(_ apps: [StreamingApp]) async -> Bool {
        for app in apps {
            for _ in 0..<3 { guard (try? await app.isSignedIn()) == true, (try? await app.mediaToken("ACME1-NEWS")) != nil else { return false } }
        }
        return true
    }
}
