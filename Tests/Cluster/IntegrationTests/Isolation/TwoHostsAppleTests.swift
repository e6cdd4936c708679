@testable import ClusterCommands
@testable import CommandKit
import Foundation
import PostgresServer
import Testing

/// Copies of `autosignin` as two hosts have them: they share a PostgreSQL server and key files, and nothing else.
@Suite("Automatic sign-in on two hosts", .serialized, .enabled(if: PostgresServer.isHere, PostgresServer.absence))
struct TwoHostsAppleTests {
    @Test("whichever copy answers knows of every opt-in and every revocation; the death of a copy loses neither, nor a letter to Apple")
    func twoHosts() async throws {
        let server = try PostgresServer()
        try server.server.run(sql: "CREATE DATABASE autosignin")
        let client = HTTPExchange.makeClient()
        let cluster = try TestCluster(exchange: HTTPExchange(client: client))
        var other: SecondCopy?
        do {
            _ = try await cluster.starter.start()
            try await AppleTrait.populate(cluster)
            try await cluster.restart(.autosignin) {
                $0["storage"] = ["engine": "postgres", "hosts": ["\(server.server.folder.path):\(server.server.port)"], "user": "postgres"]
            }
            let data = cluster.home.root.appendingPathComponent("host-b-autosignin")
            let copy = try SecondCopy.start(.autosignin, of: cluster, data: data)
            other = copy
            try await Condition.wait("the second autosignin is ready") { await copy.readiness().isReady }
            let both = [ClusterAddresses(ports: cluster.ports).main(.autosignin), copy.address]
            try await cluster.restart(.gateway) { try $0.setAddresses(of: "autosignin", both) }
            try await TestCluster.$current.withValue(cluster) { try await play(cluster, copy) }
        } catch {
            if let other { Issue.record("\(other.output.suffix(2000))") }
            await other?.stop()
            try? await cluster.stop()
            try await client.shutdown()
            throw error
        }
        await other?.stop()
        try await cluster.stop()
        try await client.shutdown()
        cluster.removeState()
    }

    private func play(_ cluster: TestCluster, _ copy: SecondCopy) async throws {
        let control = try AppleControl.running()
        let before = try await control.calls("delete").count
        for round in 0..<4 {
            // Each call goes to another copy: what one of them writes the next one reads.
            let (app, optIn) = try await AppleApp.optedIn()
            let guest = try await app.another()
            for _ in 0..<4 { try await guest.signInBy(optIn.value) }
            #expect(try await app.optOut(optIn.family).status == 200)
            for _ in 0..<4 {
                let refused = try await guest.redeem(optIn.value)
                #expect(refused.status == 401 && refused.object["code"] as? String == "token_revoked", "round \(round): \(refused.text)")
            }
            try await Condition.wait("the device that it signed in is signed out") { try await guest.device.checkAuthn() == 403 }
            try await Condition.wait("Apple deletes the value") { try await app.apple.token().value == nil }
        }
        #expect(try await control.calls("delete").count == before + 4, "Apple hears of each revocation once")
        #expect(try await copy.calls(of: "AutomaticSignIn") > 0, "the second copy took part")

        let (app, optIn) = try await AppleApp.optedIn()
        copy.process.signal(SIGKILL)
        try await Condition.wait("all goes on with the first copy") { (try? await app.another().redeem(optIn.value).status) == 200 }
        #expect(try await app.optOut(optIn.family).status == 200)
        try await Condition.wait("Apple deletes the value") { try await app.apple.token().value == nil }
    }
}
