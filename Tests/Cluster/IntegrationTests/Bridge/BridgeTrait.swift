@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// Gives a suite a cluster whose requestors use the stand-in upstream: `ACME1` with our own return page, `BRAVO` (there `BRAVOUP`) without.
struct BridgeTrait: SuiteTrait, TestScoping {
    /// True when tests move the time of day of its programs, the upstream's too.
    var hasMovableClock = false

    func provideScope(for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void) async throws {
        try await ClusterTrait(hasMovableClock: hasMovableClock).provideScope(for: test, testCase: testCase) {
            try await connect(try TestCluster.running())
            try await function()
        }
    }

    static let mvpds = [
        "CoastCable": "Coast Cable", "HillTel": "Hill Tel", "TrialUp": "Trial", "PromoUp": "Promo", "FenTel": "Fen Tel", "MoorTel": "Moor Tel",
    ]
    /// Those that tests close: for two minutes nobody signs in there.
    static let closable = ["FenTel", "MoorTel"]

    /// Has a stand-in offer those, too.
    static func offerClosable(_ upstream: StandInUpstream) async throws {
        for id in closable {
            try await upstream.control("PUT", "mvpds/\(id)", ["displayName": mvpds[id] ?? id])
            try await upstream.setIntegration("ACME1", id, ["isEnabled": true])
        }
    }

    private func connect(_ cluster: TestCluster) async throws {
        let upstream = try StandInUpstream.running()
        try await upstream.reset()
        try await Self.offerClosable(upstream)
        let olga = try await Administrator.fresh()
        func put(_ path: String, _ body: [String: Any]) async throws {
            let answer = try await olga.send("POST", path, body)
            try #require((200...201).contains(answer.status), "\(path): \(answer.status) \(answer.text)")
        }
        try await put("/secrets/acme-v2", ["secret": try await upstream.statement()])
        // Where time is the test's, nothing has to be soon.
        let seconds = hasMovableClock ? [:] : ["profileFresh": 10, "poll": 3]
        let client: [String: Any] = ["id": "tv", "statementReference": "acme-v2", "requestors": "all", "platforms": "all"]
        try await put("/upstreams", ["id": "vendor", "baseUrl": upstream.address, "clients": [client], "seconds": seconds])
        for (requestor, members) in [
            ("ACME1", ["upstream": "vendor", "returnOrigin": cluster.gateway]), ("BRAVO", ["upstream": "vendor", "serviceProvider": "BRAVOUP"]),
        ] {
            let answer = try await olga.change("/requestors/\(requestor)") { $0["upstream"] = members }
            try #require(answer.status == 200, "\(answer.text)")
        }
        for (id, name) in Self.mvpds {
            try await put("/mvpds", ["id": id, "displayName": name, "upstreamOnly": true])
            for requestor in ["ACME1", "BRAVO"] {
                try await put("/integrations", ["requestor": requestor, "mvpd": id, "upstream": true, "metadataKeys": []])
            }
        }
        try await olga.push("An upstream")
        try await Condition.wait("the services have it") { try await Self.list("ACME1", of: cluster).contains("CoastCable") }
        try await Condition.wait("authentication has it") {
            let device = try await Device.make()
            return try await device.authenticate(try await device.code(), mvpd: "CoastCable").status == 302
        }
        try await upstream.forgetCalls()
    }

    static func list(_ requestor: String, of cluster: TestCluster) async throws -> [String] {
        let answer = try await cluster.exchange.send("GET", "\(cluster.gateway)/api/v1/config/\(requestor).json")
        let record = answer.object["requestor"] as? [String: Any]
        return (record?["mvpds"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
    }
}

extension Trait where Self == BridgeTrait {
    static var bridge: Self { Self() }
    /// The same, with a time of day that tests move.
    static var bridgeWithMovableClock: Self { Self(hasMovableClock: true) }
}
