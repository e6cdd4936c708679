import ArgumentParser
import Foundation
import Hummingbird
import HummingbirdCore
import Logging

/// The cost of the export of spans and metrics: two clusters, of which one exports, take turns.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Measure calls of a cluster that exports by OTLP beside one that does not.",
        discussion: "Exit code 0 when the goal holds, 1 when it does not, 2 when there was nothing to measure.")

    /// CPU of all services per call with every trace exported, over that without an export.
    private static let goal = 1.15

    @Option(help: "The load program `http-load`.")
    var load: String

    @Option(help: "Seconds of each run.")
    var seconds = 4.0

    @Option(help: "Pairs of runs; medians count.")
    var rounds = 7

    @Option(help: "Calls a second; 0: as many as the cluster answers.")
    var rate = 1000

    @Option(help: "Keep-alive connections, each with one request in flight.")
    var connections = 64

    @Option(help: "Signed-in devices.")
    var devices = 64

    @Option(help: "First port of the clusters that are started.")
    var portBase = 22_000

    func run() async throws { try await GatewayBenchmark.judge(measure) }

    private func measure() async throws -> Bool {
        let receiver = Receiver()
        let port = try await receiver.start()
        defer { receiver.stop() }
        let export = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:\(port)"]
        let tenth = export.merging(["OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.1"]) { $1 }
        let work = FileManager.default.temporaryDirectory.appending(path: "export-requests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: work) }
        Report.machine(cores: ProcessInfo.processInfo.activeProcessorCount)
        var sides: [Side] = []
        defer { for side in sides { side.cluster.stop() } }
        for (name, variables) in [("none", [:]), ("metrics, one trace of ten", tenth), ("metrics and all traces", export)] {
            let number = sides.count
            let home = FileManager.default.temporaryDirectory.appending(path: "export-\(number)-\(UUID().uuidString.prefix(8))")
            let cluster = try LocalCluster.start(
                binaries: URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(), home: home,
                portBase: portBase + 40 * number, people: devices, variables: variables)
            sides.append(Side(name: name, cluster: cluster, requests: work.appending(path: "\(number)")))
            try await cluster.waitForSandbox()
            let fleet = try await Fleet.signIn(
                devices, at: LocalCluster.jwsRequestor, domain: "acme-two.example", resources: ["ACME2-MOVIES"], cluster: cluster, series: 5)
            try Scenario.checks(fleet).write(to: sides[number].checks)
            try Scenario.tokens(fleet).write(to: sides[number].tokens)
        }
        let calls = LoadProgram(path: load, connections: connections, seconds: seconds)
        var isMet = true
        for (operation, file) in [("checkauthn", \Side.checks), ("media token, ES256", \Side.tokens)] {
            let costs = try measure(sides, calls, file)
            Report.line("| \(operation), export of | µs of CPU per call | over none | goal |\n|---|---|---|---|")
            for (index, side) in sides.enumerated() {
                let ratio = Spread(zip(costs[index], costs[0]).map { $0 / $1 })
                let isLast = index == sides.count - 1
                if isLast { isMet = isMet && ratio.median <= Self.goal }
                let goal = isLast ? String(format: "at most %.2f: ", Self.goal) + (ratio.median <= Self.goal ? "met" : "missed") : ""
                Report.line(
                    String(
                        format: "| %@ | %.0f | %.2f (%.2f–%.2f) | %@ |", side.name, Spread(costs[index]).median, ratio.median, ratio.least,
                        ratio.most, goal))
            }
            Report.line("")
        }
        guard receiver.octets > 0 else { throw BenchmarkFailure("nothing was exported") }
        Report.line("The receiver got \(receiver.requests) requests with \(receiver.octets / 1_000_000) MB.")
        return isMet
    }

    private struct Side {
        let name: String
        let cluster: LocalCluster
        let requests: URL

        var checks: URL { requests.appendingPathExtension("checks") }
        var tokens: URL { requests.appendingPathExtension("tokens") }
    }

    /// Microseconds of CPU per call in all services, by side and round.
    private func measure(_ sides: [Side], _ calls: LoadProgram, _ file: KeyPath<Side, URL>) throws -> [[Double]] {
        var costs = [[Double]](repeating: [], count: sides.count)
        for round in 0...rounds {
            for (index, side) in sides.enumerated() {
                let before = ProcessTimes(side.cluster.processes)
                let count: Int
                let unexpected: Int
                if rate > 0 {
                    let pace = try calls.pace(port: side.cluster.port, rate: rate, status: 200, requests: side[keyPath: file])
                    (count, unexpected) = (pace.calls, pace.unexpected)
                } else {
                    let result = try calls.run(port: side.cluster.port, status: 200, requests: side[keyPath: file])
                    (count, unexpected) = (result.calls, result.unexpected)
                }
                guard unexpected * 50 <= count else { throw BenchmarkFailure("\(unexpected) of \(count) calls failed") }
                // Figures that wait for their interval belong to these calls.
                usleep(1_500_000)
                let spent = ProcessTimes(side.cluster.processes).spent(since: before)
                // The first calls fill caches.
                if round > 0 { costs[index].append(spent.values.reduce(0, +) * 1e6 / Double(count)) }
            }
        }
        return costs
    }
}

/// Takes whatever is exported, in this process.
private final class Receiver: Sendable {
    private struct State {
        var requests = 0
        var octets = 0
    }

    private let state = Guarded(State())
    private let task = Guarded<Task<Void, any Error>?>(nil)

    var requests: Int { state.with { $0.requests } }
    var octets: Int { state.with { $0.octets } }

    /// - Returns: Its port.
    func start() async throws -> Int {
        let router = Router()
        for signal in ["traces", "metrics"] {
            router.post("v1/\(signal)") { [state] request, _ in
                let body = try await request.body.collect(upTo: 64 << 20)
                state.with {
                    $0.requests += 1
                    $0.octets += body.readableBytes
                }
                return HTTPResponse.Status.ok
            }
        }
        var logger = Logger(label: "receiver")
        logger.logLevel = .error
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            responder: router.buildResponder(), configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in port.yield(channel.localAddress?.port ?? 0) }, logger: logger)
        task.with { $0 = Task { try await application.run() } }
        for await port in ports { return port }
        throw BenchmarkFailure("the receiver did not start")
    }

    func stop() { task.with { $0?.cancel() } }
}

/// A value under a lock.
private final class Guarded<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func with<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&value) } }
}
