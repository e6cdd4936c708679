import ArgumentParser
import Foundation
import Rpc
import Transport

/// Runs each scenario against the C server and against ours, in turns, and prints the ratio of the best runs.
struct CompareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "compare", abstract: "Compares the server with the C server.")

    @Option(help: "Folder with the C programs `server` and `load`.")
    var tools: String

    @Option(help: "Seconds of each run.")
    var seconds = 1.0

    @Option(help: "Runs of each scenario; the best one counts.")
    var rounds = 10

    @Option(help: "Measure the service at host:port instead of the built-in server.")
    var address: String?

    @Option(help: "With --address: the name in the service's certificate.")
    var name = BenchmarkIdentities.server

    @Option(help: "With --address: prefix of a certificate and key file that the service accepts, for example pki/operator.")
    var identity: String?

    @Option(help: "With --address: the authority's certificate.")
    var trustAnchors: String?

    func run() async throws {
        let identities = try BenchmarkIdentities.create()
        defer { identities.remove() }
        let own = address == nil ? try ChildProgram(CommandLine.arguments[0], ["serve", "--identities", identities.folder]) : nil
        defer { own?.stop() }
        let target = try Target(address: address ?? "127.0.0.1:\(own?.line() ?? "")", name: name, files: targetFiles(identities))
        print("method            load    C calls/s   p50 µs   p99 µs    ours calls/s   p50 µs   p99 µs   ratio   goal")
        for scenario in Scenario.all { try compare(scenario, target, identities) }
    }

    private func compare(_ scenario: Scenario, _ target: Target, _ identities: BenchmarkIdentities) throws {
        // The C server answers with as many bytes as ours does.
        let probe = try measure(scenario, target, seconds: 0.2)
        let server = try startLimit(answerBytes: scenario.payloadBytes > 0 ? 0 : max(1, probe.answerBytes - 20), identities)
        defer { server.stop() }
        let limit = Target(
            address: "127.0.0.1:\(try server.line())", name: BenchmarkIdentities.server, files: identities.files(BenchmarkIdentities.client))
        var pairs: [(limit: Measurement, ours: Measurement)] = []
        for _ in 0..<rounds {
            pairs.append((try measure(scenario, limit, seconds: seconds), try measure(scenario, target, seconds: seconds)))
        }
        guard let limitBest = Measurement.best(pairs.map(\.limit)), let best = Measurement.best(pairs.map(\.ours)) else { return }
        report(scenario, limitBest, best)
    }

    private func targetFiles(_ identities: BenchmarkIdentities) throws -> TlsFiles {
        guard address != nil else { return identities.files(BenchmarkIdentities.client) }
        guard let identity, let trustAnchors else { throw ValidationError("--address needs --identity and --trust-anchors.") }
        return TlsFiles(certificate: "\(identity).crt", key: "\(identity).key", trustAnchors: trustAnchors)
    }

    private func report(_ scenario: Scenario, _ limit: Measurement, _ ours: Measurement) {
        let ratio = ours.callsPerSecond / limit.callsPerSecond
        let verdict = scenario.goal.map { "\($0) \(ratio >= $0 ? "met" : "missed")" } ?? "-"
        print(
            scenario.method.padding(toLength: 18, withPad: " ", startingAt: 0)
                + scenario.load.description.padding(toLength: 6, withPad: " ", startingAt: 0)
                + String(
                    format: "%11.0f %8.1f %8.1f %15.0f %8.1f %8.1f %7.2f   %@", limit.callsPerSecond, limit.p50, limit.p99, ours.callsPerSecond,
                    ours.p50, ours.p99, ratio, verdict))
    }

    private func startLimit(answerBytes: Int, _ identities: BenchmarkIdentities) throws -> ChildProgram {
        let files = identities.files(BenchmarkIdentities.server)
        return try ChildProgram("\(tools)/server", [files.certificate, files.key, files.trustAnchors, "\(answerBytes)"])
    }

    private func measure(_ scenario: Scenario, _ target: Target, seconds: Double) throws -> Measurement {
        guard let address = RpcAddress(target.address) else { throw ValidationError("\(target.address) is not of the form host:port.") }
        let load = try ChildProgram(
            "\(tools)/load",
            [
                address.host, "\(address.port)", target.name, target.files.certificate, target.files.key, target.files.trustAnchors,
                scenario.service, scenario.method, "\(scenario.payloadBytes)", "\(scenario.load.connections)", "\(scenario.load.inFlight)",
                "\(seconds)",
            ])
        let line = try load.line()
        guard let measurement = Measurement(line) else { throw ValidationError("The load client failed on \(scenario.method): \(line)") }
        return measurement
    }
}
