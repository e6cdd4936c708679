@testable import ClusterCommands
@testable import CommandKit
import Foundation
import LoadReporting
import Testing

/// `boxoffice load gateway` against a real cluster: short runs in which every step must succeed.
@Suite("Load on the gateway", .serialized, .cluster)
struct GatewayLoadTests {
    /// By scenario, with what else the command line says.
    private static let steps: [String: [String]] = [
        "second-screen": ["registration code", "poll in vain", "authenticate", "SAML response", "poll", "session"],
        "playback": ["checkauthn", "authorize", "media token"],
        "token-exchange": ["profile request", "token exchange", "session of the platform"],
        "signed": ["checkauthn", "authorize", "media token"], "sdk": ["sessionDevice", "authorizeDevice", "deviceShortAuthorize"],
        "second-screen --api v2": ["session", "poll in vain", "authenticate", "SAML response", "poll", "decision of a new device"],
        "playback --api v2": ["profile", "decision"],
        "token-exchange --api v2": ["partner session", "partner profile", "profile of the partner"],
    ]

    @Test("every step of a scenario succeeds, clients #59: of apps that sign, of the SDKs' and of REST v2 too", arguments: steps.keys.sorted())
    func everyStepOfTheScenarioSucceeds(_ scenario: String) throws {
        let report = try run(scenario, rate: 5)
        #expect(report.operations.map(\.name) == Self.steps[scenario])
        for step in report.operations {
            #expect(step.succeeded > 0 && step.failed == 0, "\(step.name): \(step.succeeded) good, \(step.errors)")
            #expect(step.responseTime.count > 0)
        }
        #expect(report.totals.iterations > 0)
    }

    @Test func theMixedScenarioHasTheStepsOfAll() throws {
        let report = try run("mixed", rate: 20, seconds: 2)
        for name in ["checkauthn", "MVPD list", "user metadata", "registration code", "token exchange"] {
            #expect(report.operations.contains { $0.name == name }, "\(name)")
        }
        #expect(report.totals.failed == 0, "\(report.errors)")
        #expect(report.operations.first { $0.name == "media token" }?.succeeded ?? 0 > 0)
    }

    /// One person may have 120 media tokens of a resource in two minutes, so each device of the run belongs to another person.
    @Test func moreMediaTokensThanOnePersonMayHaveAreAllGiven() throws {
        let cluster = try TestCluster.running()
        let arguments = ["gateway", "--scenario", "playback", "--rate", "150", "--duration", "3s", "--warm-up", "0s", "--quiet"]
        let outcome = try program(arguments + ["--assert", "errors<=0%"])
        #expect(outcome.status == 0, "\(cluster.home.root.path): \(outcome.output)")
    }

    @Test func theServiceIsObservedMeanwhileAndThePageIsWritten() throws {
        let page = FileManager.default.temporaryDirectory.appendingPathComponent("load-\(UUID().uuidString).html")
        defer { try? FileManager.default.removeItem(at: page) }
        let report = try run("playback", rate: 5, ["--html", page.path])
        let seen = try #require(report.observation)
        let gateway = try #require(seen.processes.first { $0.role == .target })
        #expect(gateway.name == "gateway" && gateway.residentBytes.contains { ($0 ?? 0) > 1_000_000 })
        #expect(seen.processes.contains { $0.role == .load } && seen.processes.contains { $0.name == "authentication" && $0.role == .peer })
        #expect(seen.panels.contains { $0.title == "HTTP answers by status" }, "\(seen.remarks)")
        #expect(try String(contentsOf: page, encoding: .utf8).contains("<svg class=\"chart\""))
    }

    @Test func aScenarioThatThereIsNotIsRefusedWithTheNames() throws {
        let outcome = try program(["gateway", "--scenario", "nonsense", "--rate", "1"])
        #expect(outcome.status == 2)
        #expect(outcome.output.contains("second-screen, playback, token-exchange, mixed"))
    }

    @Test("clients #59: apps of REST v2 neither sign their calls nor keep the SDKs' tokens", arguments: ["signed", "sdk"])
    func scenariosOfVersion1(_ scenario: String) throws {
        let outcome = try program(["gateway", "--scenario", scenario, "--api", "v2", "--rate", "1"])
        #expect(outcome.status == 2 && outcome.output.contains("only apps of REST v1 do so"), "\(outcome.status) \(outcome.output)")
    }

    @Test func aComparisonOfARunWithItselfPassesAndOneThatIsBrokenEndsWithOne() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("load-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try run("playback", rate: 5).json().write(to: file)
        #expect(try program(["compare", file.path, file.path, "--assert", "p99<=1x", "--assert", "rate>=1x"]).status == 0)
        #expect(try program(["compare", file.path, file.path, "--assert", "p99<1x"]).status == 1)
        #expect(try program(["compare", file.path, file.path, "--assert", "p99<5ms"]).status == 2)
        #expect(try program(["compare", file.path, "/nowhere.json"]).status == 2)
    }

    private func run(_ scenario: String, rate: Int, seconds: Int = 1, _ more: [String] = []) throws -> LoadReport {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("load-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let arguments = [
            "--rate", "\(rate)", "--duration", "\(seconds)s", "--warm-up", "0s", "--devices", "4", "--connections", "8", "--json", file.path,
            "--quiet",
        ]
        let outcome = try program(["gateway", "--scenario"] + scenario.split(separator: " ").map(String.init) + arguments + more)
        #expect(outcome.status == 0, "\(outcome.output)")
        return try LoadReport(json: try Data(contentsOf: file))
    }

    private func program(_ arguments: [String]) throws -> Program {
        let cluster = try TestCluster.running()
        let home = arguments.first == "compare" ? [] : ["--home", cluster.home.root.path]
        return try .run(cluster.starter.binaries.appendingPathComponent("boxoffice").path, ["load"] + arguments + home)
    }
}
