@testable import ClusterCommands
@testable import CommandKit
import Foundation
import PostgresServer
import Testing

/// Copies of `autosignin` as two hosts have them: they share a PostgreSQL server and key files, and nothing else.
@Suite("Automatic sign-in on two hosts", .serialized, .enabled(if: PostgresServer.isHere, PostgresServer.absence))
struct TwoHostsAppleTests {
    @Test("whichever copy answers knows of every opt-in and revocation; one key has one effect; a copy's death loses neither, nor a letter to Apple")
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
            try await TestCluster.$current.withValue(cluster) {
                try await oneKey(copy, server)
                try await unknownState(server)
                try await play(cluster, copy)
            }
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

    /// A call that is repeated with its key while the first is under way reaches the other copy (scale-out F1).
    private func oneKey(_ copy: SecondCopy, _ server: PostgresServer) async throws {
        let app = try await AppleApp.make()
        try await app.signIn()
        _ = try await app.apple.requestAuthorization(.approve)
        let before = try await copy.calls(of: "AutomaticSignIn")
        let key = UUID().uuidString
        // One call and a burst of ten beside it: what the gateway lets an address send at once (rest-v1 §2.7).
        let calls = 11
        let answers = try await withThrowingTaskGroup { group in
            for _ in 0..<calls { group.addTask { try await app.issue(key: key) } }
            return try await group.reduce(into: [HTTPAnswer]()) { $0.append($1) }
        }
        #expect(answers.map(\.status) == Array(repeating: 201, count: calls), "\(answers.map(\.status))")
        #expect(Set(answers.map(\.text)).count == 1, "one effect, one answer: \(Set(answers.map(\.text)))")
        #expect(answers.first?.object["familyId"] as? String == (try server.server.run(sql: "SELECT id FROM family", database: "autosignin")))
        let others = try await copy.calls(of: "AutomaticSignIn") - before
        #expect(others > 0 && others < Double(calls), "both copies took part: \(others) of \(calls) at the second")
    }

    /// The release after this one has a state that this one does not know (scale-out F10).
    private func unknownState(_ server: PostgresServer) async throws {
        let (app, optIn) = try await AppleApp.optedIn()
        let guest = try await app.another()
        let rows = "WHERE family_id = '\(optIn.family)'"
        let state = try server.server.run(sql: "SELECT max(state) FROM token_version \(rows)", database: "autosignin")
        try server.server.run(sql: "UPDATE token_version SET state = 99 \(rows)", database: "autosignin")
        for _ in 0..<4 {
            let answer = try await guest.redeem(optIn.value)
            #expect(answer.status == 503, "not revoked: \(answer.status) \(answer.text)")
        }
        try server.server.run(sql: "UPDATE token_version SET state = \(state) \(rows)", database: "autosignin")
        try await guest.signInBy(optIn.value)
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
