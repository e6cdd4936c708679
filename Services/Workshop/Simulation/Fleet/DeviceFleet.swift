internal import CommandKit
internal import EntitlementClient
internal import EntitlementSimulator
internal import Foundation
internal import LoadReporting
internal import Synchronization

/// Many simulated devices that sign in and play, a bounded number at a time.
struct DeviceFleet {
    let setup: DeviceSetup
    let count: Int
    /// Devices under way at once.
    let atOnce: Int
    let resource: String
    /// Where people sign in, in turn.
    let mvpds: [String]
    /// The people who sign in, in turn.
    let people: [String]

    /// The steps of one device.
    enum Step: String, CaseIterable, Sendable {
        case configure = "configuration"
        case code = "registration code"
        case signIn = "sign-in by a person"
        case poll = "first poll answered"
        case play = "permission and media token"
    }

    /// The result of one device.
    struct Outcome: Sendable {
        var times: [Step: Duration] = [:]
        /// Where it stopped, and by which code.
        var failure: (step: Step, code: String, text: String)?
    }

    /// - Parameter progress: Called after each device, and while nothing ends.
    /// - Returns: The results; a device that fails does not stop the others.
    func run(progress: @escaping @Sendable (FleetSummary) -> Void) async throws -> FleetSummary {
        var summary = FleetSummary(count: count)
        try await withThrowingTaskGroup(of: Outcome.self) { group in
            for number in 0..<min(atOnce, count) { group.addTask { await play(number) } }
            var started = min(atOnce, count)
            while let outcome = try await group.next() {
                summary.add(outcome)
                progress(summary)
                guard started < count, !Task.isCancelled else { continue }
                let number = started
                started += 1
                group.addTask { await play(number) }
            }
        }
        summary.end()
        return summary
    }

    private func play(_ number: Int) async -> Outcome {
        var outcome = Outcome()
        var step = Step.configure
        let log = StatusLog()
        func done(_ next: Step, _ watch: StepWatch) {
            outcome.times[step] = watch.lap()
            step = next
        }
        do {
            let watch = StepWatch()
            let settings = SimulatedDevice.Settings(address: address(number))
            let device = try SimulatedDevice(settings, on: setup) { if case .status(let status) = $0 { log.add(status) } }
            try await device.client.configure(requestor: Requestor.ID(setup.requestor))
            done(.code, watch)
            let marks = FleetMarks()
            let viewer = SimulatedViewer(
                device, provider: mvpds[number % mvpds.count], .signsIn(people[number / mvpds.count % people.count]),
                shown: { _ in marks.code(watch.lap()) },
                signedIn: { marks.person(watch.lap()) })
            do {
                _ = try await viewer.play { try await $0.authenticate(force: true, interaction: $1) }
            } catch {
                step = marks.step
                marks.fill(&outcome)
                throw error
            }
            marks.fill(&outcome)
            step = .poll
            done(.play, watch)
            _ = try await device.client.authorize(Resource.ID(resource))
            outcome.times[.play] = watch.lap()
        } catch {
            let failure = DeviceFailure(error, log.all)
            outcome.failure = (step, failure.code?.rawValue ?? failure.exit.name, failure.description)
        }
        return outcome
    }

    private static let addresses = 64 * 65_536
    /// Two fleets in a row do not share addresses.
    private let firstAddress = Int.random(in: 0..<addresses)

    /// Each device has an address of its own: the cluster limits calls by address.
    private func address(_ number: Int) -> String {
        let place = (firstAddress + number) % Self.addresses
        return "100.\(64 + place / 65_536).\(place / 256 % 256).\(place % 256)"
    }
}

/// The parts of one sign-in were over at these times.
final class FleetMarks: Sendable {
    private let times = Mutex((code: Duration?.none, person: Duration?.none))

    func code(_ time: Duration) { times.withLock { $0.code = time } }
    func person(_ time: Duration) { times.withLock { $0.person = time } }

    /// The part that was under way last.
    var step: DeviceFleet.Step {
        times.withLock { $0.code == nil ? .code : $0.person == nil ? .signIn : .poll }
    }

    func fill(_ outcome: inout DeviceFleet.Outcome) {
        let (code, person) = times.withLock { $0 }
        outcome.times[.code] = code
        outcome.times[.signIn] = person
    }
}

/// The results of many devices: counts and histograms, so that its size does not depend on how many there are.
struct FleetSummary: Sendable {
    /// Codes beyond this number are counted together.
    private static let codeLimit = 64
    private static let otherCodes = "others"

    let count: Int
    /// The build of the gateway.
    var build = ServiceBuild.unknown
    private(set) var succeeded = 0
    private(set) var failed = 0
    /// By step and code, with the words of the first.
    private(set) var failures: [String: (times: Int, text: String)] = [:]
    private(set) var times: [DeviceFleet.Step: LatencyHistogram] = [:]
    private(set) var took: Duration = .zero
    private let start = ContinuousClock.now

    init(count: Int) { self.count = count }

    var finished: Int { succeeded + failed }

    mutating func add(_ outcome: DeviceFleet.Outcome) {
        for (step, time) in outcome.times { times[step, default: LatencyHistogram()].record(Int64(time / .nanoseconds(1))) }
        guard let failure = outcome.failure else {
            succeeded += 1
            return
        }
        failed += 1
        var name = "\(failure.step.rawValue): \(failure.code)"
        if failures[name] == nil, failures.count >= Self.codeLimit { name = Self.otherCodes }
        failures[name] = ((failures[name]?.times ?? 0) + 1, failures[name]?.text ?? failure.text)
    }

    mutating func end() { took = start.duration(to: .now) }

    /// A line for while it runs.
    var progress: String {
        let elapsed = start.duration(to: .now)
        let rate = Double(finished) / max(elapsed / .seconds(1), 0.001)
        let rest = rate > 0 ? Duration.seconds(Double(count - finished) / rate) : .zero
        let bar = Self.bar(Double(finished) / Double(count))
        return "\(bar) \(finished) of \(count)  \(failed) failed  \(Quantity.number(rate))/s  \(Console.text(of: rest)) to go"
    }

    private static func bar(_ share: Double) -> String {
        let full = Int((share * 20).rounded(.down))
        return String(repeating: "█", count: full) + String(repeating: "░", count: 20 - full)
    }

    /// The result for people.
    func lines(_ console: Console) -> [String] {
        let rate = Double(succeeded) / max(took / .seconds(1), 0.001)
        var lines = [
            "  \(console.bold("\(succeeded) of \(count) devices signed in and played")) in \(Console.text(of: took)) (\(Quantity.number(rate))/s)",
            "", "  \("step".padding(toLength: 30, withPad: " ", startingAt: 0))        p50        p99        max",
        ]
        for step in DeviceFleet.Step.allCases {
            guard let histogram = times[step], !histogram.isEmpty else { continue }
            let values = [histogram.value(at: 50), histogram.value(at: 99), histogram.longest].map {
                Self.right(Console.text(of: .nanoseconds($0)), 11)
            }
            lines.append("  \(step.rawValue.padding(toLength: 30, withPad: " ", startingAt: 0))\(values.joined())")
        }
        if !failures.isEmpty { lines += ["", "  \(console.bad("\(failed) failed"))"] }
        for (name, failure) in failures.sorted(by: { ($1.value.times, $0.key) < ($0.value.times, $1.key) }) {
            lines.append("  \(Self.right("\(failure.times)", 6))  \(name)  \(console.faint(failure.text))")
        }
        return lines
    }

    private static func right(_ text: String, _ width: Int) -> String { String(repeating: " ", count: max(1, width - text.count)) + text }

    /// The result for programs.
    var json: JSONValue {
        let steps = DeviceFleet.Step.allCases.compactMap { step -> (String, JSONValue)? in
            guard let histogram = times[step], !histogram.isEmpty else { return nil }
            func milliseconds(_ nanoseconds: Int64) -> JSONValue { .number((Double(nanoseconds) / 1e4).rounded() / 100) }
            return (
                step.rawValue,
                .object([
                    "count": .integer(Int64(histogram.count)), "p50Milliseconds": milliseconds(histogram.value(at: 50)),
                    "p99Milliseconds": milliseconds(histogram.value(at: 99)), "maxMilliseconds": milliseconds(histogram.longest),
                ])
            )
        }
        return .object([
            "count": .integer(Int64(count)), "succeeded": .integer(Int64(succeeded)), "failed": .integer(Int64(failed)),
            "milliseconds": .integer(Int64(took / .milliseconds(1))), "build": .string(build.rawValue),
            "steps": .object(Dictionary(uniqueKeysWithValues: steps)),
            "failures": .object(failures.mapValues { .integer(Int64($0.times)) }),
        ])
    }
}
