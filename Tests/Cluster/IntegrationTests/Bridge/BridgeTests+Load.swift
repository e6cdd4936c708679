@testable import ClusterCommands
@testable import CommandKit
import Foundation
import LoadReporting
import Testing

/// `boxoffice load gateway` in front of the stand-in (bridge §15.1, §15.3).
extension BridgeTests {
    @Test("bridge §15.3: the load plays by sessions of an upstream, which is asked once in a visit")
    func takesLoad() async throws {
        let upstream = try await upstream()
        let (report, outcome) = try load("bridge", rate: 1, devices: 4)
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(report.operations.map(\.name) == ["bridged checkauthn", "bridged authorize", "bridged media token"])
        for step in report.operations { #expect(step.succeeded > 0 && step.failed == 0, "\(step.name): \(step.errors)") }
        // The first decision of each device came before; within a minute of it a visit's media token alone is asked for.
        #expect(try await upstream.count("authorize") >= report.totals.iterations)
        #expect(try await upstream.count("register") == 4)
    }

    @Test("bridge §15.1: televisions that wait make no call upstream")
    func waits() async throws {
        let upstream = try await upstream()
        let (report, outcome) = try load("polling", rate: 40, devices: 200)
        // A run of seconds is too short for a word about memory.
        #expect(outcome.status == 1, "\(outcome.output)")
        #expect(report.totals.failed == 0 && report.totals.succeeded > 0, "\(report.errors)")
        let verdicts = report.assertions
        #expect(verdicts.first { $0.text == "no call upstream for the polls" }?.hasHeld == true, "\(verdicts)")
        #expect(
            verdicts.contains { $0.text.hasPrefix("own memory of gateway ") }
                && verdicts.contains { $0.text.hasPrefix("own memory of authentication ") })
        #expect(try await upstream.entries().filter { $0.operation != "configuration" }.isEmpty)
    }

    private func load(_ scenario: String, rate: Int, devices: Int) throws -> (LoadReport, Program) {
        let cluster = try TestCluster.running()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("load-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let arguments = [
            "load", "gateway", "--scenario", scenario, "--rate", "\(rate)", "--devices", "\(devices)", "--duration", "3s", "--warm-up", "0s",
            "--connections", "8", "--json", file.path, "--quiet", "--home", cluster.home.root.path,
        ]
        let outcome = try Program.run(cluster.starter.binaries.appendingPathComponent("boxoffice").path, arguments)
        return (try LoadReport(json: try Data(contentsOf: file)), outcome)
    }
}
