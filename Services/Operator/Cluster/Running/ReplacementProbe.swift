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
    /// The service must be this far.
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

    /// The program's own report now.
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

    /// - Returns: The problem that keeps the goal from being reached; not telling when an answer did not come in time, for whatever reason.
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

/// Why a replaced service cannot be used, and what to do about it.
struct ReplacementProblem: Equatable {
    let what: String
    var advice: String?

    init(what: String, advice: String? = nil) {
        self.what = what
        self.advice = advice
    }

    /// - Parameter fault: The fault of a call of `Health.Check`, or of the attempt to connect.
    init(_ fault: Fault, replacement: Replacement, pki: LocalPki) {
        let name = replacement.service.certificateName
        switch fault.cause {
        case let error as TlsError: self.init(error, name: name, pki: pki)
        case let end as ConnectionEnd where end.code == "unsupported_version":
            self.init(what: "it speaks another version of the wire; \(end)", advice: "WIRE.md §3 says which version a hello must name")
        case let end as ConnectionEnd:
            self.init(what: "it takes no calls; \(end)", advice: "WIRE.md §6 explains the code; 'boxoffice conformance' tries the whole protocol")
        case let other as Fault: self.init(what: other.message, advice: "its log may say why")
        case let error?: self.init(what: PlainReason.of(error), advice: "start it, or give another address with --replace")
        case nil: self.init(ofCall: fault, name: name)
        }
    }

    private init(_ error: TlsError, name: String, pki: LocalPki) {
        let issue = "'boxoffice pki --issue \(name.prefix { $0 != "." }) --folder DIR' makes a certificate that fits"
        switch error.code {
        case .wrongPeerName: self.init(what: "TLS: its certificate does not have the DNS name \(name)", advice: issue)
        case .untrustedPeer: self.init(what: "TLS: its certificate does not lead to \(pki.path("ca.crt")); \(PlainReason.of(error))", advice: issue)
        case .refusedByPeer:
            self.init(
                what: "TLS: it refuses the certificate of operator.boxoffice; \(PlainReason.of(error))",
                advice: "it must trust \(pki.path("ca.crt")) for its callers")
        case .handshakeTimedOut: self.init(what: "TLS: it does not answer the handshake", advice: "is it a service of this wire at that port?")
        default:
            self.init(
                what: "TLS: no handshake of TLS 1.3 with it; \(PlainReason.of(error))",
                advice: "WIRE.md §1; is it a service of this wire at that port?")
        }
    }

    private init(ofCall fault: Fault, name: String) {
        switch fault.code {
        case .permissionDenied:
            self.init(what: "it does not let operator.boxoffice call Health.Check", advice: "put that name on its list of callers (REPLACING.md)")
        case .unimplemented: self.init(what: "it does not offer boxoffice.platform.v1.Health", advice: "every service must (WIRE.md §8)")
        default: self.init(what: "Health.Check fails with \(fault)", advice: "its log may say why")
        }
    }
}

/// Waits for one process to say that it is ready, or finds out why it does not.
struct ReadinessProbe: Sendable {
    let home: ClusterHome
    let exchange: HTTPExchange
    let url: String
    /// One that cannot start ends, which is told at once; a machine that is slow or busy is given the time.
    private static let patience: Duration = .seconds(60)
    /// One whose store's server is away waits without end.
    private static let storePatience: Duration = .seconds(20)

    /// - Throws: `CommandFailure` with the process's own last words when it ends or takes too long, or with what it waits for.
    func wait(for process: ServiceProcess) async throws {
        let begun = ContinuousClock.now
        while begun.duration(to: .now) < Self.patience {
            guard process.isRunning else {
                throw CommandFailure("\(process.copy.name) ended at once", advice: lastWords(of: process.copy))
            }
            if let answer = try? await exchange.send("GET", url) {
                if answer.status == 200 { return }
                if let failure = Self.failure(of: process.copy.name, saying: answer.text, after: begun.duration(to: .now)) { throw failure }
            }
            try await Task.sleep(for: .milliseconds(15))
        }
        throw CommandFailure(
            "\(process.copy.name) is not ready after \(Console.text(of: Self.patience))", advice: lastWords(of: process.copy))
    }

    /// The complaint of a program that is not ready, once it is no use to wait for that.
    /// - Parameter text: The parts that it lacks, a line for each.
    static func failure(of name: String, saying text: String, after time: Duration) -> CommandFailure? {
        guard time >= storePatience, let line = text.split(separator: "\n").first(where: { $0.hasPrefix("storage: waiting: ") }) else { return nil }
        return CommandFailure("\(name): \(line)")
    }

    /// The last line of its log that is no event. A program that cannot start gives the reason there, in one line, and a thread may log an event
    /// after it. One that crashed has none.
    private func lastWords(of copy: ServiceCopy) -> String {
        let log = home.log(of: copy)
        let lines = (try? String(contentsOf: log, encoding: .utf8))?.split(separator: "\n") ?? []
        guard let last = lines.last else { return "its log \(log.path) is empty" }
        guard let reason = lines.suffix(20).last(where: { !$0.hasPrefix("{") }) else {
            return "it gives no reason; its log \(log.path) ends with \(last)"
        }
        return "\(reason) (log: \(log.path))"
    }
}
