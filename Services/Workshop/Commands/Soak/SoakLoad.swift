internal import CommandKit
internal import Foundation
internal import LoadReporting
internal import LoadTool
internal import Synchronization

/// The load of a soak: the gateway's mixed scenario, in sections, so that what was prepared, such as access tokens, never gets too old. Apps of REST v1 and of v2
/// take turns.
struct SoakLoad: Sendable {
    let home: ClusterHome
    /// Iterations per second.
    let rate: String
    /// Of each section; `nil`: as many as the rate needs.
    let devices: Int?
    let stop: StopSignals

    /// No section is longer, nor shorter but for the last.
    private static let longest = 1800.0
    private static let shortest = 30.0

    /// Puts load on for that long, or until a signal comes.
    /// - Throws: What kept the first section from beginning; a later one that cannot begin ends the soak.
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
