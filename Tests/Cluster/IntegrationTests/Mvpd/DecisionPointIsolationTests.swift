@testable import ClusterCommands
import AsyncHTTPClient
@testable import CommandKit
import Foundation
import Testing

/// A decision point that hangs affects only its own users (mvpd §4.3).
@Suite("Decision points that hang", .serialized, .cluster)
struct DecisionPointIsolationTests {
    private static let plays = 120

    @Test("mvpd §4.3: while one decision point hangs, decisions of another are as quick as before", .tags(.timing), .onReleasePrograms)
    func oneThatHangsSlowsNobodyElse() async throws {
        // Calls that hang must not use up the connections of the others to the gateway.
        let client = HTTPExchange.makeClient(connections: 64)
        do {
            try await compare(try await devices(4, at: "NorthCable"), with: try await devices(4, at: "LakeTel", over: client))
        } catch {
            try await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }

    private func compare(_ quick: [Device], with stuck: [Device]) async throws {
        let before = try await slowest(quick, "before")
        let sandbox = try SandboxControl.running()
        try await sandbox.shape(#""times": 0, "mode": "hang""#, "LakeTel")
        let during = try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, device) in stuck.enumerated() {
                for call in 0..<8 { group.addTask { _ = try await device.authorize("STUCK-\(number)-\(call)") } }
            }
            try await Condition.wait("calls hang") { try await sandbox.decisions("LakeTel") >= 8 }
            let during = try await slowest(quick, "during")
            try await sandbox.shape(#""times": 0"#, "LakeTel")
            try await group.waitForAll()
            return during
        }
        // The goal, less than a fifth more, is measured by the benchmark; here a busy machine must not fail.
        #expect(during < max(before * 3, before + .milliseconds(500)), "\(before) became \(during)")
    }

    /// The time of all but the slowest hundredth of decisions.
    private func slowest(_ devices: [Device], _ series: String) async throws -> Duration {
        var times = try await withThrowingTaskGroup(of: [Duration].self) { group in
            for (number, device) in devices.enumerated() {
                group.addTask {
                    var times: [Duration] = []
                    for play in 0..<Self.plays / devices.count {
                        let start = ContinuousClock.now
                        let answer = try await device.authorize("\(series)-\(number)-\(play)")
                        times.append(start.duration(to: .now))
                        #expect(answer.status == 403, "a channel that nobody carries is denied: \(answer.text)")
                    }
                    return times
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        times.sort()
        return times[times.count * 99 / 100]
    }

    private func devices(_ count: Int, at mvpd: String, over client: HTTPClient? = nil) async throws -> [Device] {
        var devices: [Device] = []
        for _ in 0..<count {
            let device = try await Device.make()
            try await device.signIn(at: mvpd)
            let cluster = client.map { device.cluster.asked(over: HTTPExchange(client: $0)) } ?? device.cluster
            devices.append(Device(cluster: cluster, requestor: device.requestor, id: device.id, accessToken: device.accessToken))
        }
        return devices
    }
}
