import ArgumentParser
import CommandKit
import Foundation

/// Starts a cluster with devices that are signed in and devices that wait for a sign-in, and writes their requests for the load program. Prints a
/// line of JSON, and ends the cluster when its input ends.
struct FleetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "fleet", abstract: "Start a cluster and write its devices' requests to files.")

    @Option(help: "Folder for the files of requests.")
    var folder: String

    @Option(help: "Signed-in devices.")
    var devices = 1024

    @Option(help: "Devices with a registration code and without a session.")
    var waiting = 2048

    @Option(help: "First port of the cluster.")
    var portBase = 21_800

    private struct Description: Encodable {
        var port: Int
        var processes: [String: Int32]
        var data: String
    }

    func run() async throws {
        do {
            try await serve()
        } catch {
            FileHandle.standardError.write(Data("gateway-benchmark: \(error)\n".utf8))
            throw ExitCode(2)
        }
    }

    private func serve() async throws {
        let binaries = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let home = URL(fileURLWithPath: folder).appending(path: "home")
        let cluster = try LocalCluster.start(binaries: binaries, home: home, portBase: portBase, people: devices)
        defer { cluster.stop() }
        try await cluster.waitForSandbox()
        let reference = try await Fleet.signIn(
            devices, at: "ACME1", domain: "acme.example", resources: ["ACME1-NEWS", "ACME1-SPORT", "ACME1-KIDS"], cluster: cluster, series: 1)
        let jws = try await Fleet.signIn(
            devices / 2, at: LocalCluster.jwsRequestor, domain: "acme-two.example", resources: ["ACME2-MOVIES"], cluster: cluster, series: 2)
        try write("checkauthn", Scenario.checks(reference))
        try write("codes", Scenario.codes(reference))
        try write("media-reference", Scenario.tokens(reference))
        try write("media-es256", Scenario.tokens(jws))
        try write("polls", Scenario.checks(try await reference.waiting(waiting, cluster: cluster)))
        let description = Description(port: cluster.port, processes: cluster.processes, data: cluster.dataFolder.path)
        print(String(decoding: try JSONEncoder().encode(description), as: UTF8.self))
        fflush(nil)
        while try FileHandle.standardInput.read(upToCount: 1)?.isEmpty == false {}
    }

    private func write(_ name: String, _ requests: RequestFile) throws {
        try requests.write(to: URL(fileURLWithPath: folder).appending(path: "\(name).requests"))
    }
}
