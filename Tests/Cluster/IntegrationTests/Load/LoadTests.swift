@testable import ClusterCommands
@testable import CommandKit
@testable import WorkshopCommands
import Foundation
import LoadReporting
import Testing

/// `boxoffice load` as a program, on real services.
@Suite(.cluster) struct LoadTests {
    private func load(_ arguments: String...) throws -> Program {
        let cluster = try TestCluster.running()
        let program = try TestCluster.binaries(Checkout.current).appendingPathComponent("boxoffice").path
        return try Program.run(program, ["load"] + arguments + ["--home", cluster.home.root.path, "--quiet", "--warm-up", "0s"])
    }

    @Test(.tags(.timing), .onReleasePrograms) func measuresAServiceAndWritesItsReport() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("load-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let run = try load(
            "config", "--rate", "100", "--duration", "2s", "--assert", "errors<1%", "--assert", "calls>=190", "--json", file.path, "--tag",
            "suite=integration")
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains("held"))
        let report = try LoadReport(json: Data(contentsOf: file))
        #expect(report.totals.due == 200)
        #expect(report.totals.succeeded + report.totals.failed + report.totals.dropped == 200)
        #expect(report.operations.map(\.name) == ["GetConfiguration"])
        #expect(report.totals.answerBytes > 100 * report.totals.succeeded)
        #expect(report.run.tags == ["suite": "integration"])
        #expect(report.totals.responseTime.count == report.totals.succeeded + report.totals.failed)
    }

    @Test(.tags(.timing), .onReleasePrograms, arguments: ["config", "authentication", "authorization"])
    func preparesRealDataForEachMethodOf(_ service: String) throws {
        let listing = try load(service, "--list-methods")
        let methods = listing.lines.dropFirst().compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(methods.count > 4)
        let mix = methods.flatMap { ["--method", $0] }
        let cluster = try TestCluster.running()
        let program = try TestCluster.binaries(Checkout.current).appendingPathComponent("boxoffice").path
        let run = try Program.run(
            program,
            ["load", service] + mix + [
                "--rate", "40", "--duration", "2s", "--warm-up", "0s", "--devices", "3", "--home", cluster.home.root.path, "--quiet", "--assert",
                "errors<=0%",
            ])
        #expect(run.status == 0, "\(run.output)")
    }

    @Test func opensStreamsUntilEnoughItemsCame() throws {
        let once = try load("config", "--method", "WatchConfiguration", "--calls", "50", "--concurrency", "4", "--assert", "errors<=0%")
        #expect(once.status == 0, "\(once.output)")
        #expect(once.output.contains("WatchConfiguration (a stream, ended after 1 item)"))
        let described = try load(
            "config", "--method", "Health.Watch", "--data", "{}", "--items", "2", "--rate", "10", "-d", "1s", "--timeout", "200ms")
        #expect(described.output.contains("timeout"), "\(described.output)")
        let none = try load("config", "--method", "Echo", "--items", "2", "--rate", "10")
        #expect(none.status == 2)
        #expect(none.output.contains("Echo is answered by no stream"), "\(none.output)")
        #expect(try load("config", "--method", "WatchConfiguration", "--items", "0", "--rate", "10").status == 2)
    }

    @Test(
        "A service that is started for the load alone, with its peers played", .tags(.timing), .onReleasePrograms,
        arguments: ["config", "authentication", "authorization", "autosignin"])
    func loadsAServiceByItself(_ service: String) throws {
        let program = try TestCluster.binaries(Checkout.current).appendingPathComponent("boxoffice").path
        let options = [
            "--rate", "40", "--duration", "1s", "--warm-up", "0s", "--devices", "3", "--quiet", "--assert", "errors<=0%", "--assert", "calls>=38",
        ]
        let run = try Program.run(program, ["load", service, "--isolated"] + options)
        #expect(run.status == 0, "\(run.output)")
        let confused = try Program.run(program, ["load", service, "--isolated", "--home", "/nowhere"] + options)
        #expect(confused.status == 2)
        #expect(confused.output.contains("leave one of them out"))
    }

    @Test func measuresTheGatewayOverHTTPAndHTTPS() throws {
        let run = try load(
            "gateway", "--path", "/api/v1/config/ACME1.json", "--rate", "20", "--duration", "1s", "--connections", "4", "--assert", "errors<=0%")
        #expect(run.status == 0, "\(run.output)")
        let missing = try load("gateway", "--path", "/nowhere", "--rate", "20", "--duration", "1s", "--connections", "2", "--assert", "errors<=0%")
        #expect(missing.status == 1)
        #expect(missing.output.contains("http_404"))
        let cluster = try TestCluster.running()
        let secure = try #require(try ClusterFile.read(cluster.home)?.gatewayTLS)
        let https = try load(
            "gateway", "--path", "/healthz", "--address", secure, "--ca", cluster.home.pki.appendingPathComponent("ca.crt").path, "--concurrency",
            "2",
            "--duration", "1s", "--connections", "2", "--assert", "errors<=0%")
        #expect(https.status == 0, "\(https.output)")
    }

    @Test func aFailedAssertionIsOne() throws {
        let run = try load("config", "--rate", "50", "--duration", "1s", "--assert", "p99<1ns")
        #expect(run.status == 1)
        #expect(run.output.contains("FAILED"))
    }

    @Test(arguments: [
        (["config", "--rate", "5", "--method", "Nothing"], "GetConfiguration"), (["config"], "--rate"), (["nobody", "--rate", "5"], "gateway"),
        (["config", "--rate", "fast"], "2.5k"), (["config", "--rate", "5", "--assert", "p99<5"], "5ms"), (["config", "--ramp", "5..5"], "1k..20k"),
        (["config", "--rate", "5", "--concurrency", "5"], "exclude"), (["config", "--rate", "5", "--unheard-of"], "is no option of"),
        (["gateway", "--rate", "5"], "--path"),
    ])
    func wrongOptionsAreTwo(_ arguments: [String], _ hint: String) throws {
        let program = try TestCluster.binaries(Checkout.current).appendingPathComponent("boxoffice").path
        let run = try Program.run(program, ["load"] + arguments + ["--home", TestCluster.running().home.root.path])
        #expect(run.status == 2, "\(run.output)")
        #expect(run.output.contains(hint), "\(run.output)")
    }

    @Test func aServiceThatCannotBeReachedIsFour() throws {
        let nobody = try load("config", "--rate", "5", "--address", "127.0.0.1:1")
        #expect(nobody.status == 4)
        #expect(nobody.output.contains("connection refused"))
        let file = try #require(try ClusterFile.read(TestCluster.running().home))
        let other = try load("config", "--rate", "5", "--address", try #require(file.services["authentication"]?.address))
        #expect(other.status == 4)
        #expect(other.output.contains("another service answers there"))
    }
}
