internal import EntitlementClient
internal import EntitlementSimulator
internal import Foundation
internal import LoadReporting
internal import Synchronization

/// Many simulated devices that sign in and play, a bounded number at a time.
struct DeviceFleet {
    let ground: DeviceGround
    let count: Int
    /// Devices under way at once.
    let atOnce: Int
    let resource: String
    /// Where people sign in, in turn.
    let mvpds: [String]
    /// Who signs in, in turn.
    let people: [String]

    /// What one device does.
    enum Step: String, CaseIterable, Sendable {
        case configure = "configuration"
        case code = "registration code"
        case signIn = "sign-in by a person"
        case poll = "first poll answered"
        case play = "permission and media token"
    }

    /// What became of one device.
    struct Outcome: Sendable {
        var times: [Step: Duration] = [:]
        /// Where it stopped, and by which code.
        var failure: (step: Step, code: String, text: String)?
    }

    /// - Parameter progress: Called after each device, and while nothing ends.
    /// - Returns: What they came to; one that fails does not stop the others.
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
            let device = try SimulatedDevice(settings, on: ground) { if case .status(let status) = $0 { log.add(status) } }
            try await device.client.configure(requestor: Requestor.ID(ground.requestor))
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

/// When the parts of one sign-in were over.
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
