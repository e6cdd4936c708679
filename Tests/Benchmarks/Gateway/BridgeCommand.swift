import ArgumentParser
import CommandKit
import Foundation
import TextEncodings

/// The time that the bridge adds to the calls of a v2 service that answers in 20 ms (bridge §15.1). This service itself and direct MVPDs are measured
/// beside it.
struct BridgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bridge", abstract: "Measure calls through the bridge beside the upstream's own, and beside those of direct MVPDs.",
        discussion: "Exit code 0 when the goals hold, 1 when one does not, 2 when there was nothing to measure.")

    private static let requestor = "ACME1"
    private static let resource = "ACME1-NEWS"
    private static let bridged = "CoastCable"
    /// Microseconds of CPU. The first is an answer from the store over that of a direct MVPD, the second a call upstream over an answer from the
    /// store.
    private static let goals = (stored: 15.0, called: 150.0)
    /// Microseconds that the bridge may add to the upstream's own.
    private static let delays = (p50: 1000.0, p99: 5000.0)

    @Option(help: "The load program `http-load`.")
    var load: String

    @Option(help: "Seconds of each run.")
    var seconds = 4.0

    @Option(help: "Rounds; medians count.")
    var rounds = 7

    @Option(help: "Decisions a second.")
    var rate = 200

    @Option(help: "Checks of a session a second.")
    var checks = 1000

    @Option(help: "Keep-alive connections, each with one request in flight.")
    var connections = 64

    @Option(help: "Signed-in devices at each MVPD.")
    var devices = 256

    @Option(help: "Milliseconds in which the upstream answers.")
    var latency = 20

    @Option(help: "First port of the cluster that is started.")
    var portBase = 21_900

    func run() async throws { try await GatewayBenchmark.judge(measure) }

    private func measure() async throws -> Bool {
        let binaries = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let home = FileManager.default.temporaryDirectory.appending(path: "bridge-\(UUID().uuidString.prefix(8))")
        let cluster = try LocalCluster.start(binaries: binaries, home: home, portBase: portBase, people: devices)
        defer { cluster.stop() }
        try await cluster.waitForSandbox()
        let work = FileManager.default.temporaryDirectory.appending(path: "bridge-requests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: work) }
        let client = HTTPExchange.makeClient()
        let rounds: [Round]
        do {
            let exchange = HTTPExchange(client: client)
            let files = try await prepare(cluster, exchange, work)
            Report.machine(cores: ProcessInfo.processInfo.activeProcessorCount)
            rounds = try await measure(cluster, files, exchange)
        } catch {
            try await client.shutdown()
            throw error
        }
        try await client.shutdown()
        return report(rounds)
    }

    // MARK: - The cluster

    private struct Files {
        let direct: URL
        let stored: URL
        let called: URL
        /// The bridge's own calls, as the upstream noted them.
        let upstream: URL
        let upstreamPort: Int
    }

    private func prepare(_ cluster: LocalCluster, _ exchange: HTTPExchange, _ work: URL) async throws -> Files {
        let upstream = try cluster.upstream()
        try await connect(cluster, upstream, exchange)
        func fleet(_ mvpd: String, _ series: Int, _ resources: [String]) async throws -> Fleet {
            try await Fleet.signIn(
                devices, at: Self.requestor, domain: "acme.example", resources: resources, cluster: cluster, series: series, mvpd: mvpd)
        }
        let direct = try await fleet("NorthCable", 6, [])
        let bridged = try await fleet(Self.bridged, 7, [Self.resource])
        _ = try await control("DELETE", upstream, "log", nil, exchange)
        for device in bridged.devices {
            let own = FormEncoding.encode([("requestor", device.requestor), ("deviceId", device.id), ("resource", Self.resource)])
            // The first token takes what the sign-in's decision left; the second one is a call of its own.
            for _ in 0..<2 {
                let answer = try await exchange.send(
                    "GET", "\(cluster.gateway)/api/v1/mediatoken?\(own)", headers: [("Authorization", "Bearer \(device.accessToken)")])
                guard answer.status == 200 else { throw BenchmarkFailure("a media token was answered \(answer.status): \(answer.text)") }
            }
        }
        let files = Files(
            direct: work.appending(path: "direct"), stored: work.appending(path: "stored"), called: work.appending(path: "called"),
            upstream: work.appending(path: "upstream"), upstreamPort: URL(string: upstream)?.port ?? 80)
        try Scenario.checks(direct).write(to: files.direct)
        try Scenario.checks(bridged).write(to: files.stored)
        try Scenario.tokens(bridged).write(to: files.called)
        try await calls(of: upstream, exchange).write(to: files.upstream)
        _ = try await control("PUT", upstream, "behaviour", ["latencyMilliseconds": latency], exchange)
        return files
    }

    private func connect(_ cluster: LocalCluster, _ upstream: String, _ exchange: HTTPExchange) async throws {
        let statements = try JSONSerialization.jsonObject(with: Data(try await control("GET", upstream, "statements", nil, exchange).utf8))
        guard let statement = (statements as? [[String: Any]])?.first(where: { $0["id"] as? String == "acme-v2" })?["text"] as? String else {
            throw BenchmarkFailure("the stand-in upstream has no statement")
        }
        _ = try await cluster.administer("POST", "/secrets/acme-v2", ["secret": statement], by: exchange)
        let client: [String: Any] = ["id": "tv", "statementReference": "acme-v2", "requestors": "all", "platforms": "all"]
        _ = try await cluster.administer("POST", "/upstreams", ["id": "vendor", "baseUrl": upstream, "clients": [client]], by: exchange)
        let path = "/requestors/\(Self.requestor)"
        guard var requestor = try await cluster.administer("GET", path, by: exchange)["entity"] as? [String: Any] else {
            throw BenchmarkFailure("the catalogue has no \(Self.requestor)")
        }
        requestor["upstream"] = ["upstream": "vendor", "returnOrigin": cluster.gateway]
        _ = try await cluster.administer("PUT", path, requestor, by: exchange)
        _ = try await cluster.administer(
            "POST", "/mvpds", ["id": Self.bridged, "displayName": "Coast Cable", "upstreamOnly": true], by: exchange)
        _ = try await cluster.administer(
            "POST", "/integrations", ["requestor": Self.requestor, "mvpd": Self.bridged, "upstream": true, "metadataKeys": [String]()], by: exchange)
        _ = try await cluster.administer("POST", "/draft/push", ["description": "An upstream"], by: exchange)
        for _ in 0..<300 {
            let list = try await exchange.send("GET", "\(cluster.gateway)/api/v1/config/\(Self.requestor).json").text
            if list.contains(Self.bridged) {
                // The other services take the same version within a second.
                return try await Task.sleep(for: .seconds(2))
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw BenchmarkFailure("the catalogue with the upstream is not served")
    }

    private func control(_ method: String, _ upstream: String, _ path: String, _ body: [String: Any]?, _ exchange: HTTPExchange) async throws
        -> String
    {
        let text = try body.map { String(decoding: try JSONSerialization.data(withJSONObject: $0), as: UTF8.self) }
        let answer = try await exchange.send(method, "\(upstream)/control/\(path)", headers: [("Content-Type", "application/json")], body: text)
        guard (200..<300).contains(answer.status) else { throw BenchmarkFailure("\(method) \(path): \(answer.status) \(answer.text)") }
        return answer.text
    }

    private func log(of upstream: String, _ exchange: HTTPExchange) async throws -> [String: Any] {
        let text = try await control("GET", upstream, "log?operation=authorize", nil, exchange)
        return try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
    }

    /// The decisions that the bridge asked for, to be asked again without it.
    private func calls(of upstream: String, _ exchange: HTTPExchange) async throws -> RequestFile {
        let dropped: Set<String> = ["host", "content-length", "content-type", "connection", "x-forwarded-for", "transfer-encoding"]
        let entries = try await log(of: upstream, exchange)["entries"] as? [[String: Any]] ?? []
        guard entries.count >= devices else { throw BenchmarkFailure("the upstream was asked for \(entries.count) decisions only") }
        var file = RequestFile()
        for entry in entries.suffix(devices) {
            let headers = (entry["headers"] as? [String: String] ?? [:]).filter { !dropped.contains($0.key) }
            file.add("POST", entry["path"] as? String ?? "", headers: headers.map { ($0.key, $0.value) }, json: entry["body"] as? String ?? "")
        }
        return file
    }

    // MARK: - The calls

    private struct Round {
        /// Microseconds of CPU per call.
        let direct: [String: Double]
        let stored: [String: Double]
        let called: [String: Double]
        let own: LoadProgram.Pace
        let bridged: LoadProgram.Pace
    }

    private static let processes = ["gateway", "authentication", "authorization"]

    private func measure(_ cluster: LocalCluster, _ files: Files, _ exchange: HTTPExchange) async throws -> [Round] {
        let program = LoadProgram(path: load, connections: connections, seconds: seconds)
        func pace(_ file: URL, _ rate: Int, port: Int? = nil) throws -> (LoadProgram.Pace, [String: Double]) {
            let before = ProcessTimes(cluster.processes)
            let pace = try program.pace(port: port ?? cluster.port, rate: rate, status: 200, requests: file)
            let spent = ProcessTimes(cluster.processes).spent(since: before)
            guard pace.unexpected * 50 <= pace.calls else {
                throw BenchmarkFailure("\(pace.unexpected) of \(pace.calls) calls of \(file.lastPathComponent) failed")
            }
            return (pace, spent.mapValues { $0 * 1e6 / Double(pace.calls) })
        }
        var taken: [Round] = []
        for round in 0...rounds {
            let direct = try pace(files.direct, checks).1
            let stored = try pace(files.stored, checks).1
            let own = try pace(files.upstream, rate, port: files.upstreamPort).0
            _ = try await control("DELETE", try cluster.upstream(), "log", nil, exchange)
            let (bridged, called) = try pace(files.called, rate)
            let counters = try await log(of: try cluster.upstream(), exchange)["counters"] as? [String: [String: Int]]
            let asked = counters?["authorize"]?["calls"] ?? 0
            // A call that ends after the last one that counts is asked too.
            guard abs(asked - bridged.calls) * 50 <= bridged.calls else {
                throw BenchmarkFailure("\(bridged.calls) media tokens made \(asked) calls upstream")
            }
            // The first calls fill caches.
            if round > 0 { taken.append(Round(direct: direct, stored: stored, called: called, own: own, bridged: bridged)) }
        }
        return taken
    }

    private func report(_ rounds: [Round]) -> Bool {
        func sum(_ costs: [String: Double]) -> Double { Self.processes.reduce(0) { $0 + (costs[$1] ?? 0) } }
        func row(_ name: String, _ costs: KeyPath<Round, [String: Double]>) {
            let cells = Self.processes.map { process in String(format: "%.0f", Spread(rounds.map { $0[keyPath: costs][process] ?? 0 }).median) }
            let all = String(format: "%.0f", Spread(rounds.map { sum($0[keyPath: costs]) }).median)
            Report.line("| \(name) | \(all) | \(cells.joined(separator: " | ")) |")
        }
        var isMet = true
        func judge(_ name: String, _ values: [Double], _ goal: Double) {
            let spread = Spread(values)
            isMet = isMet && spread.median <= goal
            Report.line(
                String(
                    format: "| %@ | %.0f (%.0f–%.0f) | at most %.0f: %@ |", name, spread.median, spread.least, spread.most, goal,
                    spread.median <= goal ? "met" : "missed"))
        }
        Report.line("| µs of CPU per call | all | \(Self.processes.joined(separator: " | ")) |\n|---|---|---|---|---|")
        row("checkauthn of a direct MVPD's viewer, \(checks)/s", \.direct)
        row("checkauthn of a bridged viewer, \(checks)/s", \.stored)
        row("mediatoken of a bridged viewer, \(rate)/s, one call upstream each", \.called)
        Report.line("\n| µs | median (least–most) | goal |\n|---|---|---|")
        judge("CPU of an answer from the store, over direct", rounds.map { sum($0.stored) - sum($0.direct) }, Self.goals.stored)
        judge("CPU of a call upstream, over an answer from the store", rounds.map { sum($0.called) - sum($0.stored) }, Self.goals.called)
        judge("added at p50", rounds.map { $0.bridged.p50 - $0.own.p50 }, Self.delays.p50)
        judge("added at p99", rounds.map { $0.bridged.p99 - $0.own.p99 }, Self.delays.p99)
        let (own, bridged) = (Spread(rounds.map(\.own.p99)).median, Spread(rounds.map(\.bridged.p99)).median)
        Report.line(
            String(
                format: "\nUpstream itself p50 %.0f, p99 %.0f; through the bridge p50 %.0f, p99 %.0f.",
                Spread(rounds.map(\.own.p50)).median, own, Spread(rounds.map(\.bridged.p50)).median, bridged))
        return isMet
    }
}
