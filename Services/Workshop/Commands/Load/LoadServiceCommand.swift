internal import ArgumentParser
internal import ClusterCommands
internal import CommandKit
internal import Faults
internal import Foundation
internal import LoadTool
internal import NIOPosix
internal import PeerDoubles
internal import Transport

/// `boxoffice load SERVICE`.
struct LoadServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Put load on config, authentication, authorization, autosignin or gateway.",
        discussion: """
            Open loop: calls are due by a schedule, and the response time of a call counts from when it was due, so that a stalled service cannot \
            hide its stalls. The service is found through the local cluster's cluster.json, or by --address; with --isolated it is started for the \
            run, alone, and this program answers what it calls.

            Exit codes: 0 all went well, 1 an assertion failed, 2 the options are wrong, 4 it could not run.
            """
    )

    @Argument(help: "config, authentication, authorization, autosignin or gateway.", completion: .services)
    var service: String

    @Option(help: "METHOD or METHOD=WEIGHT; may be repeated. (default: the service's most frequent one)")
    var method: [String] = []

    @Flag(help: "List what can be called, and end.")
    var listMethods = false

    @OptionGroup(title: "Load") var load: LoadOptions
    @OptionGroup(title: "Target") var target: LoadTargetOptions
    @OptionGroup(title: "Requests") var data: DataOptions
    @OptionGroup(title: "Gateway") var http: HttpOptions
    @OptionGroup(title: "While it runs") var live: LiveOptions
    @OptionGroup(title: "Results") var output: LoadOutputOptions

    func run() async throws {
        do {
            try await measure()
        } catch let error as OptionRejection {
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
        let (place, moment) = (try live.metricsPlace(), try live.moment())
        let subject = try LoadSubject(service)
        if listMethods { return print(subject.listing) }
        let plan = try load.runPlan(isGateway: subject.service == .gateway)
        var session = LoadSession(
            plan: plan, preparation: LoadPreparation(subject, target, data, http), target: target, methods: method, output: output,
            form: live.form(output), stop: StopSignals())
        (session.assertions, session.metricsPlace, session.moment) = (assertions, place, moment)
        guard target.isolated else { return try await session.run() }
        let isolated = try await IsolatedService.start(subject.service, behaviour: target.doubles.behaviour(publicOrigin: ""))
        session.target.peer.home = isolated.home
        session.preparation = LoadPreparation(subject, session.target, data, http)
        let outcome = await Result { try await session.run() }
        await isolated.stop()
        try outcome.get()
    }
}

/// A run was not possible for one of these reasons, in one line with advice.
enum LoadFailure {
    static func describe(_ error: any Error) -> String {
        switch error {
        case let error as CommandFailure: error.description
        case let error as Fault: "the service answered \(error.code.rawValue): \(PlainReason.of(error))"
        case let error as TlsError: "no TLS with the service (\(PlainReason.of(error))): \(advice(error))"
        case let error as NIOConnectionError:
            "cannot connect to \(error.host):\(error.port) (\(PlainReason.of(error))): is the service running there? Start the cluster with ./Services/up"
        default: PlainReason.of(error)
        }
    }

    private static func advice(_ error: TlsError) -> String {
        switch error.code {
        case .untrustedPeer: "check --ca, and whether the service's certificate has expired"
        case .wrongPeerName: "another service answers there: check --address and --peer-name"
        case .handshakeFailed, .truncated:
            "the service refused the tool's certificate, or does not speak TLS 1.3: check --certificate, --key and the address"
        default: "check --certificate, --key and --ca"
        }
    }
}

/// A service that is started for one load only, with doubles in this process as its peers.
struct IsolatedService: Sendable {
    private let lone: LoneService
    private let running: LoneService.Running
    private let folder: URL

    /// Starts the program that was built with this one, with keys, settings and state in a temporary folder and on ports that are free.
    /// - Throws: `CommandFailure` when the program is not there or does not become ready; nothing is left then.
    static func start(_ service: ClusterService, behaviour: DoubleBehaviour) async throws -> IsolatedService {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-load-\(UUID().uuidString)")
        return try await HTTPExchange.once { exchange in
            do {
                let lone = LoneService(service: service, home: ClusterHome(root: folder), ports: try PortPlan.free(), behaviour: behaviour)
                return IsolatedService(lone: lone, running: try await lone.start(exchange: exchange), folder: folder)
            } catch {
                try? FileManager.default.removeItem(at: folder)
                throw error
            }
        }
    }

    /// The folder in which the load finds the service, laid out like a cluster's home.
    var home: String { folder.path }

    func stop() async {
        await lone.stop(running)
        try? FileManager.default.removeItem(at: folder)
    }
}
