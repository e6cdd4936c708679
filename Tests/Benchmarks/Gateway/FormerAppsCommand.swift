import ArgumentParser
import CommandKit
import Simulation
import EntitlementClient
import Foundation
import TextEncodings

/// The cost of apps that nobody can change, beside v1's own calls of the same effect: signed requests, and the calls of the vendor's SDKs.
struct FormerAppsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "former-apps", abstract: "Measure signed requests and the SDKs' own calls beside v1's.",
        discussion: "Exit code 0 when both goals hold, 1 when one does not, 2 when there was nothing to measure.")

    /// Microseconds of CPU in `authentication` that a signed request may cost more than a bearer.
    private static let signedGoal = 6.0
    /// The ratio of the three calls of a device SDK to those of v1.
    private static let trioGoal = 1.3

    @Option(help: "The load program `http-load`.")
    var load: String

    @Option(help: "Seconds of each run.")
    var seconds = 2.0

    @Option(help: "Rounds; medians count.")
    var rounds = 5

    @Option(help: "Keep-alive connections, each with one request in flight.")
    var connections = 64

    @Option(help: "Signed-in devices at a requestor.")
    var devices = 256

    @Option(help: "First port of the cluster that is started.")
    var portBase = 21_400

    func run() async throws { try await GatewayBenchmark.judge(measure) }

    private func measure() async throws -> Bool {
        let binaries = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let home = FileManager.default.temporaryDirectory.appending(path: "former-apps-\(UUID().uuidString.prefix(8))")
        let cluster = try LocalCluster.start(binaries: binaries, home: home, portBase: portBase, people: devices)
        defer { cluster.stop() }
        try await cluster.waitForSandbox()
        let work = FileManager.default.temporaryDirectory.appending(path: "former-apps-requests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: work) }
        let bench = Bench(cluster: cluster, load: LoadProgram(path: load, connections: connections, seconds: seconds), work: work, helloPort: 0)
        Report.machine(cores: bench.cores)
        let isCheap = try await signed(bench)
        // Tokens in compact form: those of the reference form are limited by play, and their RSA signature would hide what is measured.
        let isSmall = try await trio(bench, at: LocalCluster.jwsRequestor, domain: "acme-two.example", resource: "ACME2-MOVIES")
        return isCheap && isSmall
    }

    // MARK: - Signed requests

    private func signed(_ bench: Bench) async throws -> Bool {
        let fleet = try await Fleet.signIn(
            devices, at: "ACME1", domain: "acme.example", resources: ["ACME1-NEWS"], cluster: bench.cluster, series: 3)
        guard let pair = try bench.cluster.signingPair() else { throw BenchmarkFailure("the cluster has no key pair") }
        let signer = RequestSigner(requestor: "ACME1", publicKey: pair.publicKey, secret: pair.secret)
        var files = [RequestFile(), RequestFile()]
        for device in fleet.devices {
            let target = "/api/v1/checkauthn?\(FormEncoding.encode([("requestor", "ACME1"), ("deviceId", device.id)]))"
            let authorizations = ["Bearer \(device.accessToken)", signer.header("GET", "/checkauthn", now: Date())]
            for (index, authorization) in authorizations.enumerated() {
                files[index].add("GET", target, headers: [("Accept", "application/json"), ("Authorization", authorization)])
            }
        }
        let costs = try medians(bench, files, status: 200, of: ["authentication"]).map { $0[0] }
        let more = costs[1] - costs[0]
        Report.line("| checkauthn | µs of CPU in authentication |\n|---|---|")
        Report.line(String(format: "| by a bearer that is in the cache | %.1f |\n| by a signed header, not strict | %.1f |", costs[0], costs[1]))
        Report.line(String(format: "| more (goal: at most %.0f) | %.1f |\n", Self.signedGoal, more))
        return more <= Self.signedGoal
    }

    // MARK: - The SDKs' calls

    private func trio(_ bench: Bench, at requestor: String, domain: String, resource: String) async throws -> Bool {
        let fleet = try await Fleet.signIn(
            devices, at: requestor, domain: domain, resources: [resource], cluster: bench.cluster, series: 4)
        var files = [RequestFile](repeating: RequestFile(), count: 6)
        let client = HTTPExchange.makeClient()
        for (number, device) in fleet.devices.enumerated() {
            let headers = [("Accept", "application/json"), ("User-Agent", "boxoffice-device"), ("Authorization", "Bearer \(device.accessToken)")]
            let own = FormEncoding.encode([("requestor", requestor), ("deviceId", device.id)])
            files[0].add("GET", "/api/v1/tokens/authn?\(own)", headers: headers)
            files[1].add("GET", "/api/v1/authorize?\(own)&resource=\(resource)", headers: headers)
            files[2].add("GET", "/api/v1/mediatoken?\(own)&resource=\(resource)", headers: headers)
            var exchange = HTTPExchange(client: client)
            exchange.headers = [("X-Forwarded-For", "153.1.\(number / 250).\(1 + number % 250)")]
            let calls = SdkCalls(
                StreamingApp(
                    exchange: exchange, gateway: bench.cluster.gateway, requestor: requestor, deviceID: device.id, accessToken: device.accessToken))
            let token = try await calls.sessionToken(device.code)
            let permit = try await calls.permit(token, resource)
            files[3].add("POST", SdkCalls.session, headers: headers, form: calls.sessionForm(device.code))
            files[4].add("POST", SdkCalls.permit, headers: headers, form: calls.permitForm(token, resource))
            files[5].add("POST", SdkCalls.play, headers: headers, form: calls.playForm(permit))
        }
        try await client.shutdown()
        let processes = ["gateway", "authentication", "authorization"]
        let parts = try medians(bench, files, status: 200, of: processes)
        let costs = parts.map { $0.reduce(0, +) }
        let names = ["tokens/authn", "authorize", "media token", "sessionDevice", "authorizeDevice", "deviceShortAuthorize"]
        Report.line("| \(requestor), media tokens in compact form | µs of CPU | \(processes.joined(separator: " | ")) |\n|---|---|---|---|---|")
        for (index, name) in names.enumerated() {
            let cells = ([costs[index]] + parts[index]).map { String(format: "%.0f", $0) }
            Report.line("| \(name) | \(cells.joined(separator: " | ")) |")
        }
        let (before, after) = (costs[..<3].reduce(0, +), costs[3...].reduce(0, +))
        Report.line(String(format: "| the SDK's three to v1's three (goal: at most %.1f) | %.2f | | | |\n", Self.trioGoal, after / before))
        return after / before <= Self.trioGoal
    }

    /// The cost of a call of each file in each of some processes, in microseconds; the files take turns.
    private func medians(_ bench: Bench, _ files: [RequestFile], status: Int, of processes: [String]) throws -> [[Double]] {
        var costs = [[[Double]]](repeating: [[Double]](repeating: [], count: processes.count), count: files.count)
        for round in 0...rounds {
            for (index, file) in files.enumerated() {
                let requests = bench.work.appending(path: "former.requests")
                try file.write(to: requests)
                let before = ProcessTimes(bench.cluster.processes)
                let result = try bench.load.run(port: bench.cluster.port, status: status, requests: requests)
                let spent = ProcessTimes(bench.cluster.processes).spent(since: before)
                guard result.unexpected * 50 <= result.calls else {
                    throw BenchmarkFailure("\(result.unexpected) of \(result.calls) calls of file \(index) were answered otherwise than \(status)")
                }
                // The first calls fill caches.
                guard round > 0 else { continue }
                for (place, process) in processes.enumerated() { costs[index][place].append((spent[process] ?? 0) * 1e6 / Double(result.calls)) }
            }
        }
        return costs.map { $0.map { $0.sorted()[$0.count / 2] } }
    }
}
