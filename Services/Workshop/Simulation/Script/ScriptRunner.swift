internal import EntitlementClient
internal import Foundation

/// Plays a script on simulated devices.
struct ScriptRunner {
    let setup: DeviceSetup
    let journal: DeviceJournal
    /// The common settings of the script's devices.
    var settings = SimulatedDevice.Settings()
    /// False: codes are shown as text.
    var hasQrCode = true
    /// Prints the details of each step.
    var isDetailed = false

    /// - Returns: The result of the last step.
    /// - Throws: `DeviceFailure` at the first step that is not as expected.
    @discardableResult
    func run(_ script: DeviceScript) async throws -> StepReport? {
        do {
            let report = try await steps(script)
            journal.end(.done)
            return report
        } catch {
            let failure = DeviceFailure(error)
            journal.end(failure.exit)
            throw failure
        }
    }

    private func steps(_ script: DeviceScript) async throws -> StepReport? {
        var last: StepReport?
        var devices: [String: ScriptedDevice] = [:]
        var configured: Set<String> = []
        for (index, step) in script.steps.enumerated() {
            let name = step.device ?? script.devices[0].name
            let device = try devices[name] ?? make(script.devices.first { $0.name == name } ?? script.devices[0])
            devices[name] = device
            let watch = StepWatch()
            var report: StepReport
            do {
                if step.action.needsConfiguration, !configured.contains(name) { _ = try await device.perform(.configure) }
                report = try await device.perform(step.action)
                if !Self.leavesConfiguration(step.action) { configured.insert(name) }
            } catch {
                // Without a configuration nothing else works: the next step gets one.
                if !Self.leavesConfiguration(step.action), await !device.isConfigured() { configured.remove(name) }
                report = try await self.report(of: error, in: step, device)
            }
            report.codes += device.log.take().map(\.code)
            if let problem = step.expectation.problem(with: report) {
                throw DeviceFailure(.unexpected, report.failureCode, "\(Self.place(step)): \(problem)")
            }
            journal.step(index + 1, step, report, took: watch.lap(), device: name, isNamed: script.devices.count > 1)
            if isDetailed { report.details.forEach { journal.console.line("            \($0)") } }
            last = report
        }
        return last
    }

    /// A failure that the step expects is no failure.
    private func report(of error: any Error, in step: ScriptStep, _ device: ScriptedDevice) async throws -> StepReport {
        let statuses = device.log.take()
        let failure = DeviceFailure(error, statuses)
        guard step.expectation.isOfFailure else {
            throw DeviceFailure(failure.exit, failure.code, step.place.isEmpty ? failure.description : "\(Self.place(step)): \(failure.description)")
        }
        var report = StepReport(outcome: failure.exit, text: failure.description, failureCode: failure.code)
        report.codes = statuses.map(\.code)
        report.session = await device.session()
        return report
    }

    private func make(_ entry: DeviceScript.Device) throws -> ScriptedDevice {
        var settings = settings
        settings.platform = entry.platform
        settings.scenario = entry.scenario ?? settings.scenario
        settings.appleAccount = entry.appleAccount ?? settings.appleAccount
        settings.person = entry.person
        if !entry.approves { settings.approves = { false } }
        return try ScriptedDevice(entry.name, settings, on: setup, journal: journal, hasQrCode: hasQrCode)
    }

    private static func leavesConfiguration(_ action: ScriptAction) -> Bool {
        switch action {
        case .clock, .network, .settings: true
        default: false
        }
    }

    private static func place(_ step: ScriptStep) -> String {
        step.place.isEmpty ? step.action.name : "\(step.place) (\(step.action.name))"
    }
}

extension ExpectedEnd {
    /// - Returns: The part that is not as expected; `nil` when all is.
    func problem(with report: StepReport) -> String? {
        if let outcome, outcome != report.outcome { return "the outcome is '\(report.outcome.name)' and not '\(outcome.name)': \(report.text)" }
        if let code, report.failureCode?.rawValue != code, !report.codes.contains(where: { $0.rawValue == code }) {
            let told = report.codes.map(\.rawValue).joined(separator: ", ")
            return "the code \(code) was not told, \(told.isEmpty ? "nor any other" : "only \(told)"): \(report.text)"
        }
        if let isSignedIn, isSignedIn != (report.session != nil) { return isSignedIn ? "nobody is signed in" : "somebody is signed in" }
        if let provider, provider != report.session?.provider.rawValue {
            return "the provider is \(report.session?.provider.rawValue ?? "none") and not \(provider)"
        }
        if let source, source != report.session?.source.rawValue {
            return "the session's source is \(report.session?.source.rawValue ?? "none") and not \(source)"
        }
        if let permitted, permitted.sorted() != report.permitted?.sorted() ?? [] {
            return "permitted are \(report.permitted?.joined(separator: ", ") ?? "none") and not \(permitted.joined(separator: ", "))"
        }
        if let value, value != report.value { return "the value is \(report.value ?? "none") and not \(value)" }
        if let text, !report.text.contains(text) { return "the text is '\(report.text)'; it has no '\(text)'" }
        return nil
    }
}
