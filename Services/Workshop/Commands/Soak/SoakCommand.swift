package import ArgumentParser
internal import CommandKit
internal import Foundation
internal import LoadReporting
internal import LoadTool
internal import Synchronization

/// `boxoffice soak`: long load on the local cluster, and what grows under it.
package struct SoakCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "soak",
        abstract: "Put mixed load on the local cluster for hours, and say what grows.",
        discussion: """
            Watches each process (own memory, resident memory, open files, threads), each store (file, write-ahead log, free pages) and each log, and \
            prints how each changes per hour, by least squares over all samples after the warm-up. Something grows when, by the line through all \
            samples and by that through the later half, more has come than 8 MiB of own memory or a twentieth of it, 16 open files or a tenth, 4 threads \
            or a tenth, or 32 MiB of free pages or half of them; or when own memory rises by more than 2 MiB an hour or a hundredth of it. Less than \
            24 minutes after the warm-up cannot tell the latter: then there is no verdict. A write-ahead log must stay below 64 MiB, all logs together below their bound. A store \
            and a log may grow, the one with those who sign in, the other up to its bound: their slopes are told. So are those of the caches: a process \
            whose caches fill grows until they are full, and the verdict says so.

            Exit codes: 0 steady, 1 something grows, is above its bound, ended or failed, 2 the options are wrong, 4 no cluster runs, 130 stopped by \
            Ctrl-C before there was a verdict.
            """)

    @Option(name: .customLong("for"), help: ArgumentHelp("How long: 10m, 8h; up to 7d.", valueName: "duration"))
    var length: TimeSpan

    @Option(
        help: ArgumentHelp("How long samples do not count, while caches fill. (default: a quarter of the time, 30m at most)", valueName: "duration"))
    var warmUp: TimeSpan?

    @Option(help: "Visits per second.")
    var rate = "50"

    @Option(help: "Devices of each section of the load, half an hour at most; 1 to 100000. (default: as many as the rate needs, 50 at least)")
    var devices: Int?

    @Option(help: "Folder of the cluster. (default: BOXOFFICE_HOME, or .boxoffice in the checkout)")
    var home: String?

    @Flag(help: "Print JSON at the end, and nothing before.")
    var json = false

    package init() {}

    private static let week = 7 * 86_400.0

    private var seconds: Double { length.duration / .seconds(1) }
    private var warmUpSeconds: Double { warmUp.map { $0.duration / .seconds(1) } ?? min(1800, seconds / 4) }
    /// Some four hundred samples, and not more than one a second.
    private var interval: Duration { .seconds(min(60, max(1, seconds / 400))) }

    package func validate() throws {
        guard seconds >= 20, seconds <= Self.week else { throw ValidationError("--for is from 20s to 7d") }
        guard warmUpSeconds >= 0, seconds - warmUpSeconds >= 15 else { throw ValidationError("--warm-up leaves less than 15s to measure") }
        guard DeviceCount.range.contains(devices ?? 1) else { throw ValidationError("--devices is from 1 to 100000") }
        guard QuantityText.rate(rate) != nil else { throw ValidationError("--rate '\(rate)' is no rate: give one above 0, such as 50 or 600/m") }
    }

    package func run() async throws {
        let home =
            home.map { ClusterHome(root: URL(fileURLWithPath: $0)) }
            ?? ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        guard try ClusterFile.read(home) != nil else {
            throw CommandFailure("no cluster runs in \(home.root.path)", advice: "start one with ./Services/up --release", exit: .unreachable)
        }
        let console = Console(isQuiet: json)
        let signals = StopSignals()
        let record = Mutex(SoakRecord(logBound: Self.logBound(home)))
        let start = ContinuousClock.now
        console.line(
            "Mixed load at \(rate)/s for \(Quantity.span(Int64(seconds) * 1_000_000_000)) on the cluster in \(home.root.path); Ctrl-C ends it")
        let client = HTTPExchange.makeClient()
        var exchange = HTTPExchange(client: client)
        exchange.timeout = .seconds(2)
        let sampler = Task { [interval, exchange] in
            var next = start
            var told = start
            while !Task.isCancelled {
                let seconds = start.duration(to: .now) / .seconds(1)
                let cluster = try? ClusterFile.read(home)
                let sample = await SoakSample.take(home, cluster?.processes.filter { $0.pid > 0 } ?? []) { process in
                    guard let debug = cluster?.entry(of: process.copy)?.debug else { return nil }
                    return try? await exchange.send("GET", "http://\(debug)/metrics").text
                }
                record.withLock { $0.add(sample, at: seconds) }
                if told + Self.telling <= .now {
                    told = .now
                    console.line(console.faint(Self.progress(sample, seconds)))
                }
                next = max(next + interval, .now)
                do { try await Task.sleep(until: next, clock: .continuous) } catch { return }
            }
        }
        let load = Mutex(SoakReport.Load(rate: QuantityText.rate(rate) ?? 0))
        let outcome = await Result { () -> String? in
            let tool = SoakLoad(home: home, rate: rate, devices: devices, stop: signals)
            return try await tool.run(seconds: seconds) { measurement in load.withLock { $0.add(measurement) } }
        }
        sampler.cancel()
        await sampler.value
        try? await client.shutdown()
        let cutShort: String?
        do { cutShort = try outcome.get() } catch {
            CommandExit.explain(LoadFailure.describe(error))
            throw CommandExit.ofStart(error).exitCode
        }
        let report = SoakReport(record: record.withLock { $0 }, warmUp: warmUpSeconds, load: load.withLock { $0 }, cutShort: cutShort)
        if json { try JsonOutput.show(report.members) } else { report.lines.forEach { console.line($0) } }
        switch report.verdict {
        case .steady where cutShort == nil || signals.haveCome: return
        case .unknown where signals.haveCome: throw CommandExit.cancelled.exitCode
        case .steady, .unknown, .failed: throw CommandExit.failed.exitCode
        }
    }

    /// The terminal hears that it goes on this often.
    private static let telling: Duration = .seconds(60)

    private static func progress(_ sample: SoakSample, _ seconds: Double) -> String {
        func sum(_ quantity: SoakQuantity) -> String {
            Quantity.bytes(sample.values.filter { $0.key.quantity == quantity }.values.reduce(0, +))
        }
        return "  \(Quantity.span(Int64(seconds.rounded()) * 1_000_000_000)): own memory \(sum(.ownMemory)), stores \(sum(.store)), "
            + "write-ahead logs \(sum(.journal)), logs \(sum(.log))"
    }

    /// The greatest that one of the services has in its settings.
    static func logBound(_ home: ClusterHome) -> Double {
        let bounds = ClusterService.allCases.compactMap { service -> Double? in
            guard let content = try? Data(contentsOf: home.settings(of: service)),
                let object = try? JSONSerialization.jsonObject(with: content) as? [String: Any]
            else { return nil }
            return ((object["log"] as? [String: Any])?["allMebibytes"] as? NSNumber)?.doubleValue
        }
        return (bounds.max() ?? 1024) * 1_048_576
    }
}

extension SoakReport.Load {
    mutating func add(_ measurement: RunMeasurement) {
        iterations += measurement.totals.iterations
        succeeded += measurement.totals.succeeded
        failed += measurement.totals.failed
        dropped += measurement.totals.dropped
        for error in measurement.errors.prefix(5) where errors.count < 5 {
            let text = error.example.map { "\(error.code) (\($0))" } ?? error.code
            if !errors.contains(text) { errors.append(text) }
        }
    }
}

/// The load of a soak: the gateway's mixed scenario, in sections, so that what was prepared, such as access tokens, never gets too old. Apps of REST
/// v1 and of v2 take turns.
struct SoakLoad: Sendable {
    let home: ClusterHome
    /// Iterations per second.
    let rate: String
    /// The devices of each section; `nil`: as many as the rate needs.
    let devices: Int?
    let stop: StopSignals

    /// No section is longer, nor shorter but for the last.
    private static let longest = 1800.0
    private static let shortest = 30.0

    /// Puts load on for that long, or until a signal comes.
    /// - Throws: The error that kept the first section from beginning; a later one that cannot begin ends the soak.
    func run(seconds: Double, _ told: (RunMeasurement) -> Void) async throws -> String? {
        let start = ContinuousClock.now
        let length = min(Self.longest, max(Self.shortest, seconds / 4))
        var number = 0
        while true {
            let left = seconds - start.duration(to: .now) / .seconds(1)
            guard left > 1 else { return nil }
            guard !stop.haveCome else { return "by a signal" }
            // A rest that is no section of its own belongs to this one.
            let part = left < length + Self.shortest ? left : length
            let outcome = await Result { try await section(seconds: part, api: number.isMultiple(of: 2) ? "v1" : "v2") }
            if number == 0 { told(try outcome.get()) }
            number += 1
            switch outcome {
            case .failure(let error): return "section \(number) of the load could not run: \(LoadFailure.describe(error))"
            case .success(let measurement):
                if number > 1 { told(measurement) }
                if measurement.end == .targetLost { return "the gateway could not be reached any more" }
            }
        }
    }

    private func section(seconds: Double, api: String) async throws -> RunMeasurement {
        let options = try LoadOptions.parse(["--rate", rate, "--duration", "\(Int(max(1, seconds)))s", "--warm-up", "0s"])
        let plan = try options.runPlan(isGateway: true)
        let target = try LoadTargetOptions.parse(["--home", home.root.path] + (devices.map { ["--devices", "\($0)"] } ?? []))
        let prepared = try await GatewayLoad(target: target, http: try HttpOptions.parse([]), cluster: try ClusterFile.read(home), home: home)
            .prepare("mixed", api: api, plan: plan) { _, _, _ in }
        let run = Mutex<LoadRun?>(nil)
        let watcher = Task {
            await stop.wait()
            run.withLock { $0?.interrupt() }
        }
        defer { watcher.cancel() }
        return try await prepared.load.run(begun: { started, _ in run.withLock { $0 = started } }, progress: { _ in })
    }
}
