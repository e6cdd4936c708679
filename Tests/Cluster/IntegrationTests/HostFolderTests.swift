@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// The output of `boxoffice settings --host`, as the programs judge it.
@Suite("Settings for several hosts, read by the programs")
struct HostFolderTests {
    private let folder: URL
    private let binaries: URL

    init() throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-hosts-\(UUID().uuidString.prefix(8))")
        binaries = try TestCluster.binaries(Checkout.current)
        folder = root.appendingPathComponent("settings")
        let keys = root.appendingPathComponent("keys")
        try FileManager.default.createDirectory(at: keys, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try TestCluster.takeKeys(to: keys)
        let words = [
            "BOXOFFICE_CHECKOUT=\(Checkout.current.path)", binaries.appendingPathComponent("boxoffice").path, "settings", "--pki",
            keys.path, "--folder", folder.path, "--host", "a1=west", "--host", "b1=east", "--gateway",
            "https://tv.example",
            "--admin", "https://admin.tv.example", "--trusted-proxy", "10.0.0.1",
        ]
        let written = try Program.run("/usr/bin/env", words)
        try #require(written.status == 0, "\(written.output)")
        #expect(written.output.contains("a1/config/catalogue.json: is not there yet"))
        try Data(#"{"programmers": [], "requestors": [], "mvpds": [], "integrations": []}"#.utf8).write(
            to: folder.appendingPathComponent("a1/config/catalogue.json"))
    }

    /// Puts the checkout's pages in place of those of a host, and changes more.
    private func edit(_ service: ClusterService, _ change: (inout [String: Any], inout [String: Any]) -> Void = { _, _ in }) throws -> String {
        let file = folder.appendingPathComponent("a1/\(service.rawValue)/config.json")
        var whole = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        var own = try #require(whole[service.rawValue] as? [String: Any])
        if service == .gateway { own["pages"] = Checkout.current.appendingPathComponent("Services/Gateway/Pages").path }
        change(&whole, &own)
        whole[service.rawValue] = own
        try JSONSerialization.data(withJSONObject: whole).write(to: file)
        return file.path
    }

    private func check(_ service: ClusterService, _ file: String) throws -> Program {
        try Program.run(binaries.appendingPathComponent(service.rawValue).path, ["--config", file, "--check-config"])
    }

    @Test(
        "each program takes them without a doubt; what exposes administration, metrics or applications, or has the demo's limits, is told of and accepted"
    )
    func areGood() throws {
        for service in ClusterService.allCases where service != .sandbox {
            let file = try edit(service)
            let outcome = try check(service, file)
            #expect(outcome.status == 0 && outcome.lines == ["\(service.rawValue): \(file) is good"], "\(outcome.output)")
        }
        let gateway = try edit(.gateway) { whole, own in
            whole["debug"] = ["address": "0.0.0.0", "port": 9000] as [String: Any]
            whole["limits"] = ["stopDelaySeconds": 30]
            (own["listen"], own["allowPlainHTTP"], own["signedPlainHTTP"]) = ("0.0.0.0:8080", true, "all")
            own["shares"] = ["perApplication": 0, "perRequestor": 0]
            own["admin"] = ["listen": "0.0.0.0:8081"]
        }
        var outcome = try check(.gateway, gateway)
        #expect(outcome.status == 0 && outcome.lines.last == "gateway: \(gateway) is good, but for what is said above", "\(outcome.output)")
        let keys = [
            "debug.address", "limits.stopDelaySeconds", "gateway.listen", "gateway.signedPlainHTTP", "gateway.admin.listen", "gateway.shares",
        ]
        #expect(outcome.lines.dropLast().map { $0.split(separator: " ")[1] } == keys.map { Substring($0) }, "\(outcome.output)")
        let authentication = try edit(.authentication) { _, own in
            (own["codesPerClient"], own["codesPerDevice"]) = (10_000_000, 10_000_000)
        }
        outcome = try check(.authentication, authentication)
        #expect(
            outcome.status == 0 && outcome.lines.count == 3 && outcome.output.contains("authentication.codesPerDevice 10000000"), "\(outcome.output)")
    }
}
