internal import CommandKit
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Foundation
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Rpc
internal import ServiceKit
internal import Transport

/// Asks a replaced service over the wire whether it is there and serves, as the operator; or finds out why it does not answer.
struct ReplacementProbe: Sendable {
    /// How far the service must be.
    enum Goal: String, Sendable {
        /// It answers `Health.Check`, whatever it says.
        case answers
        /// It says that it serves.
        case serves
    }

    let replacement: Replacement
    let pki: LocalPki
    let console: Console
    var patience: Duration = .seconds(20)
    private static let pause: Duration = .milliseconds(50)
    /// After so long a person should know what is being waited for.
    private static let silence: Duration = .seconds(1)

    /// - Throws: `CommandFailure` when it takes too long, with the last reason that says more than that time went by.
    func wait(for goal: Goal) async throws {
        let client = try connect()
        let outcome = await patientOutcome(goal, HealthClient(caller: client))
        await client.shutDown()
        if let problem = outcome {
            throw CommandFailure("\(place) did not become usable in \(Console.text(of: patience)): \(problem.what)", advice: problem.advice)
        }
    }

    /// What it says of itself now.
    /// - Returns: Its report, where it gave one, and what keeps it from being used; no problems: it serves.
    func report() async -> (report: HealthReport?, problems: [String]) {
        let client: RpcClient
        do {
            client = try connect()
        } catch {
            return (nil, ["it cannot be asked: \(PlainReason.of(error))"])
        }
        var answer: (report: HealthReport?, problems: [String]) = (nil, [])
        do {
            let report = try await HealthClient(caller: client).check(CheckHealthRequest(), context: CallContext(deadline: .now + .seconds(3)))
            answer = (report, report.status == .serving ? [] : [Self.notServing(report)])
        } catch {
            let problem = ReplacementProblem(Fault.unexpected(error), replacement: replacement, pki: pki)
            answer.problems = [problem.what + (problem.advice.map { ": \($0)" } ?? "")]
        }
        await client.shutDown()
        return answer
    }

    private static func notServing(_ report: HealthReport) -> String {
        report.reason.isEmpty ? "it does not serve yet" : "it does not serve yet: \(report.reason)"
    }

    private var place: String { "the replaced \(replacement.service.rawValue) at \(replacement.address)" }

    private func patientOutcome(_ goal: Goal, _ health: some Health) async -> ReplacementProblem? {
        let start = ContinuousClock.now
        var announced: ReplacementProblem?
        var telling: ReplacementProblem?
        while true {
            guard let (latest, isTelling) = await problem(goal, health) else { return nil }
            if isTelling { telling = latest }
            let problem = telling ?? latest
            let waited = ContinuousClock.now - start
            guard waited < patience, !Task.isCancelled else { return problem }
            if waited > Self.silence, problem != announced {
                console.note(console.faint("                  waiting for \(place): \(problem.what)"))
                announced = problem
            }
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// - Returns: What keeps the goal from being reached; not telling when an answer did not come in time, for whatever reason.
    private func problem(_ goal: Goal, _ health: some Health) async -> (ReplacementProblem, isTelling: Bool)? {
        do {
            let report = try await health.check(CheckHealthRequest(), context: CallContext(deadline: .now + .seconds(2)))
            guard goal == .serves, report.status != .serving else { return nil }
            return (ReplacementProblem(what: Self.notServing(report)), true)
        } catch {
            let fault = Fault.unexpected(error)
            return (ReplacementProblem(fault, replacement: replacement, pki: pki), fault.code != .deadlineExceeded)
        }
    }

    private func connect() throws -> RpcClient {
        let files = TlsFiles(certificate: pki.path("operator.crt"), key: pki.path("operator.key"), trustAnchors: pki.path("ca.crt"))
        var configuration = RpcClient.Configuration(
            addresses: [replacement.address], peerName: replacement.service.certificateName, identity: try TlsIdentity(files: files),
            software: "boxoffice", softwareVersion: SoftwareVersion.current)
        configuration.attempts = 1
        configuration.backoff = ReconnectBackoff(first: .milliseconds(50), longest: .milliseconds(200))
        return RpcClient(
            configuration: configuration, group: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "boxoffice", factory: { _ in SwiftLogNoOpLogHandler() }))
    }
}
