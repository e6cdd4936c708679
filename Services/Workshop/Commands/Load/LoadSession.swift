internal import CommandKit
internal import Foundation
internal import LoadReporting
internal import LoadTool
internal import ServiceKit
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
    /// Where Prometheus is answered; `nil`: nowhere.
    var metricsPlace: MetricsListener.Place?
    /// When the load begins; `nil`: once all is prepared.
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
        let (measurement, watch, observation) = try await measure(prepared, display, metrics)
        display.end()
        var report = prepared.report(measurement, assertions: assertions.map { $0.check(measurement) }, plan, output)
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
