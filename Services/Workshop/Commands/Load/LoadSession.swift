internal import ArgumentParser
internal import ClusterCommands
internal import CommandKit
internal import Cryptography
internal import Foundation
internal import LoadReporting
internal import LoadTool
internal import SamlResponder
internal import ServiceKit
internal import Simulation
internal import Synchronization

/// One run of `boxoffice load`, from the preparation to the report.
struct LoadSession {
    let plan: RunPlan
    var preparation: LoadPreparation
    var target: LoadTargetOptions
    let methods: [String]
    let output: LoadOutputOptions
    let form: RunDisplay.Form
    let stop: StopSignals
    var assertions: [Assertion] = []
    /// Prometheus is answered here; `nil`: nowhere.
    var metricsPlace: MetricsListener.Place?
    /// The load begins at this time; `nil`: once all is prepared.
    var moment: Date?

    private var isClosed: Bool { plan.loop == .closed }

    func run() async throws {
        let metrics = SharedMetrics(isClosed: isClosed)
        var listener: MetricsListener?
        if let metricsPlace { listener = try await MetricsListener.start(metricsPlace) { metrics.text } }
        let outcome = await Result { try await run(metrics) }
        await listener?.stop()
        try outcome.get()
    }

    private func run(_ metrics: SharedMetrics) async throws {
        let display = RunDisplay(form, isClosed: isClosed)
        defer { display.end() }
        let prepared = try await preparation.prepare(methods: methods, plan: plan) { display.show($0, $1, of: $2) }
        display.begin("\(prepared.service.rawValue), \(prepared.workload)")
        metrics.update { $0.begin(service: prepared.service.rawValue, workload: prepared.workload, version: SoftwareVersion.current) }
        try await waitForMoment(display)
        await prepared.polling?.begin()
        let (measurement, watch, observation) = try await measure(prepared, display, metrics)
        display.end()
        let judgement = await prepared.polling?.stop() ?? []
        var report = prepared.report(measurement, assertions: assertions.map { $0.check(measurement) } + judgement, plan, output)
        report.settings.isIsolated = target.isolated
        // Calls that were under way at the end, and the closing of connections, are not part of the measurement.
        report.observation = observation.until(report.totals.elapsedSeconds + 1)
        report.serviceBuild = watch.serviceBuild
        try output.write(report)
        if measurement.end == .targetLost {
            CommandExit.explain("the service was lost: no connection to \(report.settings.targets.joined(separator: ", ")) could be opened again")
            throw CommandExit.unreachable.exitCode
        }
        guard report.hasPassed else { throw CommandExit.failed.exitCode }
    }

    private func measure(
        _ prepared: LoadPreparation.Prepared, _ display: RunDisplay, _ metrics: SharedMetrics
    ) async throws -> (RunMeasurement, LoadWatch, Observation) {
        let watch = await LoadWatch.start(prepared, target)
        let run = Mutex<LoadRun?>(nil)
        let watcher = Task {
            await stop.wait()
            run.withLock { $0?.interrupt() }
        }
        defer { watcher.cancel() }
        let outcome = await Result {
            try await prepared.load.run(
                begun: { started, moment in
                    run.withLock { $0 = started }
                    watch.begins(at: moment)
                },
                progress: { progress in
                    display.show(progress)
                    metrics.update { $0.take(progress) }
                })
        }
        metrics.update { $0.end() }
        let observation = await watch.stop()
        return (try outcome.get(), watch, observation)
    }

    /// - Throws: `CommandFailure` when the moment is over, or a signal came.
    private func waitForMoment(_ display: RunDisplay) async throws {
        guard let moment else { return }
        guard moment.timeIntervalSinceNow > 0 else {
            throw CommandFailure("the preparation took longer than until --start-at", advice: "give a later moment", exit: .unreachable)
        }
        display.show("prepared; the load begins in \(Quantity.span(Int64(moment.timeIntervalSinceNow * 1e9)))")
        while case let rest = moment.timeIntervalSinceNow, rest > 0 {
            guard !stop.haveCome else { throw CommandFailure("stopped before the load began", exit: .unreachable) }
            try await Task.sleep(for: .seconds(min(rest, 0.05)), tolerance: .zero)
        }
    }
}

/// The live figures, which the run writes and Prometheus reads.
private final class SharedMetrics: Sendable {
    private let metrics: Mutex<LiveMetrics>

    init(isClosed: Bool) { metrics = Mutex(LiveMetrics(isClosed: isClosed)) }

    func update(_ change: (inout LiveMetrics) -> Void) { metrics.withLock { change(&$0) } }

    var text: String { metrics.withLock { $0.text() } }
}

/// Looks at the service, its peers and the tool itself while the load runs.
struct LoadWatch: Sendable {
    private let observer: Observer
    private let exchange: HTTPExchange
    /// The build of the service, as its metrics tell.
    let serviceBuild: ServiceBuild

    /// Takes the first sample.
    static func start(_ prepared: LoadPreparation.Prepared, _ options: LoadTargetOptions) async -> LoadWatch {
        let target = ObservationTarget.find(
            service: prepared.service.rawValue, address: prepared.targets.first ?? "", metricsURL: options.metrics,
            cluster: try? ClusterFile.read(options.peer.clusterHome))
        var exchange = HTTPExchange(client: HTTPExchange.makeClient(connections: 1))
        exchange.timeout = .seconds(2)
        let observer = Observer(metricsURL: target.metricsURL, processes: target.processes, remarks: target.remarks) { [exchange] url in
            let answer = try await exchange.send("GET", url)
            guard answer.status == 200 else { throw CommandFailure("it was answered \(answer.status)") }
            return answer.text
        }
        await observer.start()
        return LoadWatch(observer: observer, exchange: exchange, serviceBuild: await exchange.build(metricsURL: target.metricsURL))
    }

    /// The measured part begins at that moment, which may lie ahead.
    func begins(at moment: ContinuousClock.Instant) {
        Task { await observer.begins(at: moment) }
    }

    /// Takes the last sample.
    func stop() async -> Observation {
        let observation = await observer.stop()
        try? await exchange.client.shutdown()
        return observation
    }
}

/// The loaded service can be looked at here: its metrics and its processes.
struct ObservationTarget: Sendable, Equatable {
    /// `nil`: unknown.
    var metricsURL: String?
    var processes: [ObservedProcess]
    /// The figures that are out of reach, and the reasons.
    var remarks: [String]

    /// - Parameters:
    ///   - service: Its name, `gateway` for one.
    ///   - address: Target of the load: `host:port`, or a base URL.
    ///   - metricsURL: Given by the user; otherwise that of the local cluster, if the service is one of it.
    ///   - cluster: Asked for peers and debug addresses.
    static func find(service: String, address: String, metricsURL: String?, cluster: ClusterFile?) -> ObservationTarget {
        let url = URLComponents(string: address.contains("://") ? address : "tcp://\(address)")
        let host = (url?.host ?? "").filter { $0 != "[" && $0 != "]" }
        return find(
            service: service, host: host, port: url?.port ?? (url?.scheme == "https" ? 443 : 80), metricsURL: metricsURL, cluster: cluster,
            owners: PortOwner.find, isLocal: LocalAddress.isLocal)
    }

    static func find(
        service: String, host: String, port: Int, metricsURL: String?, cluster: ClusterFile?, owners: (Int) -> [Int32], isLocal: (String) -> Bool
    ) -> ObservationTarget {
        let own = ObservedProcess(name: "boxoffice load", pid: ProcessInfo.processInfo.processIdentifier, role: .load)
        guard isLocal(host) else {
            var remarks = ["\(host) is another machine: processor time and memory of \(service) are not known here."]
            if metricsURL == nil { remarks.append("No metrics of \(service): name them with --metrics http://HOST:PORT/metrics.") }
            return ObservationTarget(metricsURL: metricsURL, processes: [own], remarks: remarks)
        }
        let pids = owners(port)
        var target = ObservationTarget(metricsURL: metricsURL, processes: [], remarks: [])
        target.processes = pids.enumerated().map { number, pid in
            ObservedProcess(name: pids.count > 1 ? "\(service) \(number + 1)" : service, pid: pid, role: .target)
        }
        if pids.isEmpty {
            target.remarks.append("No process of this user listens on port \(port): processor time and memory of \(service) are not known.")
        }
        // The cluster's file only counts when the loaded process is one of that cluster.
        if let cluster, cluster.processes.contains(where: { pids.contains($0.pid) }) {
            if target.metricsURL == nil,
                let debug = cluster.services.values.flatMap({ [$0] + ($0.copies ?? []) }).first(where: { pids.contains($0.pid) })?.debug
            {
                target.metricsURL = "http://\(debug)/metrics"
            }
            target.processes += cluster.processes.filter { $0.pid > 0 && !pids.contains($0.pid) }.sorted { $0.copy.name < $1.copy.name }
                .map { ObservedProcess(name: $0.copy.name, pid: $0.pid, role: .peer) }
        }
        if target.metricsURL == nil { target.remarks.append("No metrics of \(service): name them with --metrics http://HOST:PORT/metrics.") }
        target.processes.append(own)
        return target
    }
}

/// The stand-in MVPD of a local cluster, as a load tool plays it.
enum LoadMvpd {
    /// - Parameters:
    ///   - id: The id of the stand-in, for example `NorthCable`.
    ///   - pki: The local cluster's keys: the tool signs as the MVPD.
    /// - Throws: `CommandFailure` when the key is not there.
    static func play(_ id: String, of cluster: ClusterFile, pki: URL) throws -> PlayedMvpd {
        let file = pki.appendingPathComponent("sandbox-\(id.lowercased()).key").path
        do {
            return PlayedMvpd(entityID: "\(origin(of: cluster))/saml/\(id)/metadata", key: try RSAPrivateKey(pemFile: file))
        } catch {
            throw CommandFailure(
                "cannot sign as \(id): \(file): \(PlainReason.of(error))", advice: "people sign in only with the keys of a local cluster")
        }
    }

    /// Where the stand-in is for browsers, and under which it is known: of a cluster that is open to its network, the machine's address there.
    private static func origin(of cluster: ClusterFile) -> String {
        guard let lan = cluster.lan, let port = URLComponents(string: cluster.sandbox.mvpd)?.port else { return cluster.sandbox.mvpd }
        return "https://\(lan):\(port)"
    }

    /// A person that the stand-in MVPD's decision point accepts by the prefix of the name (its setting `visitorPrefix`).
    static func person(_ name: String) -> PlayedMvpd.Subscriber {
        PlayedMvpd.Subscriber(nameID: "load-user-\(name)", householdID: "load-house-\(name)", channels: ["ACME1-NEWS", "ACME1-SPORT", "ACME1-KIDS"])
    }
}

/// The service to call, and the identity of the caller.
struct LoadTargetOptions: ParsableArguments {
    @OptionGroup var peer: PeerOptions

    @Option(help: "The service's Prometheus metrics for the report: http://host:port/metrics. (default: the local cluster's)")
    var metrics: String?

    @Flag(help: "Start the service for this run and play its peers; nothing else has to run.")
    var isolated = false

    @OptionGroup var doubles: DoubleOptions

    @Option(help: "Devices that the calls come from. (default: 50; where each call takes a media token as many as may, at one a second each)")
    var devices: Int?

    func validate() throws { try doubles.check() }

    /// - Throws: `OptionRejection` when --isolated is combined with an option for a running service.
    func checkIsolation(_ http: HttpOptions) throws {
        guard isolated else { return }
        if let other = peer.given.first {
            throw OptionRejection("--isolated and \(other)", "--isolated starts a service of its own: leave one of them out")
        }
        if http.scenario != nil {
            throw OptionRejection(
                "--isolated and --scenario", "a scenario needs MVPDs: start a cluster with 'boxoffice up', or give the gateway a --path")
        }
    }
}
