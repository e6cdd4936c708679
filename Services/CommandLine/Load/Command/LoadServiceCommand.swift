public import ArgumentParser
internal import Foundation
internal import LoadReporting
internal import LoadTool
internal import Synchronization

/// `boxoffice load SERVICE`.
public struct LoadServiceCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Put load on config, authentication, authorization, autosignin or gateway.",
        discussion: """
            Open loop: calls are due by a schedule, and the response time of a call counts from when it was due, so that a stalled service cannot \
            hide its stalls. The service is found through the local cluster's cluster.json, or by --address; with --isolated it is started for the \
            run, alone, and this program answers what it calls.

            Exit codes: 0 all went well, 1 an assertion failed, 2 the options are wrong, 4 it could not run.
            """
    )

    @Argument(help: "config, authentication, authorization, autosignin or gateway.")
    var service: String

    @Option(help: "METHOD or METHOD=WEIGHT; may be repeated. (default: the service's most frequent one)")
    var method: [String] = []

    @Flag(help: "List what can be called, and end.")
    var listMethods = false

    @OptionGroup(title: "Load") var load: LoadOptions
    @OptionGroup(title: "Target") var target: LoadTargetOptions
    @OptionGroup(title: "Requests") var data: DataOptions
    @OptionGroup(title: "Gateway") var http: HttpOptions
    @OptionGroup(title: "Results") var output: LoadOutputOptions

    public init() {}

    public func run() async throws {
        do {
            try await measure()
        } catch let error as BadOption {
            CommandExit.explain(PlainReason.of(error))
            throw CommandExit.usage.exitCode
        } catch let error as ExitCode {
            throw error
        } catch {
            CommandExit.explain(LoadFailure.describe(error))
            throw CommandExit.ofStart(error).exitCode
        }
    }

    private func measure() async throws {
        let assertions = try output.assert.map { try Assertion($0) }
        try output.check()
        try target.checkIsolation(http)
        let subject = try LoadSubject(service)
        if listMethods { return print(subject.listing) }
        let plan = try load.runPlan(isGateway: subject.service == .gateway)
        let stop = StopSignals()
        guard target.isolated else { return try await put(plan, on: subject, target, assertions, stop) }
        let isolated = try await IsolatedService.start(subject.service, behaviour: target.doubles.behaviour(publicOrigin: ""))
        var target = target
        target.peer.home = isolated.home
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await put(plan, on: subject, target, assertions, stop))
        } catch {
            outcome = .failure(error)
        }
        await isolated.stop()
        try outcome.get()
    }

    private func put(
        _ plan: RunPlan, on subject: LoadSubject, _ target: LoadTargetOptions, _ assertions: [Assertion], _ stop: StopSignals
    ) async throws {
        let line = ProgressLine(isQuiet: output.quiet)
        let preparation = try await LoadPreparation(subject, target, data, http)
            .prepare(methods: method, plan: plan) { line.show($0, $1, of: $2) }
        line.end()
        let watch = await LoadWatch.start(preparation, target)
        let run = Mutex<LoadRun?>(nil)
        let watcher = Task {
            await stop.wait()
            run.withLock { $0?.interrupt() }
        }
        defer { watcher.cancel() }
        let outcome = await Result {
            try await preparation.load.run(
                begun: { started, moment in
                    run.withLock { $0 = started }
                    watch.begins(at: moment)
                }, progress: { line.show($0, plan) })
        }
        line.end()
        let observation = await watch.stop()
        let measurement = try outcome.get()
        var report = preparation.report(measurement, assertions: assertions.map { $0.check(measurement) }, plan, output)
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
}
