package import ArgumentParser
internal import CommandKit
internal import Foundation

/// `boxoffice run SERVICE --doubles`: one service program, its peers in memory.
package struct RunCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Start one service alone, with in-memory doubles of its peers.",
        discussion: """
            The real program, over the real wire; what it calls is answered by doubles in this process, at the ports of the cluster's plan \
            (BOXOFFICE_PORT_BASE=N moves them). Without --doubles its peers have to run by themselves. State is in a temporary folder that is \
            removed at the end, unless --home names one. Ctrl-C stops both.

            The doubles need nothing else: each device is signed in unless --double-sessions says otherwise, any non-empty bearer is accepted, a \
            browser that is sent to an MVPD comes back at once, and an MVPD that is asked for a decision permits. With --sandbox the stand-in MVPD \
            and Apple run too, and MVPDs decide as in a cluster.
            """
    )

    @Argument(help: "config, authentication, authorization, autosignin or gateway.", completion: .services)
    var service: String

    @Flag(help: "Play its peers.")
    var doubles = false

    @Option(help: "Catalogue file; default: the demo catalogue.", completion: .file())
    var catalogue: String?

    @Option(help: "Folder for keys, state and logs; default: a temporary one.", completion: .directory)
    var home: String?

    @Flag(help: "Start the stand-in MVPD and Apple too.")
    var sandbox = false

    @Flag(help: "Print an event a line, as JSON: 'ready' with all addresses, 'ended' or 'stopped'.")
    var json = false

    @OptionGroup(title: "How doubles answer")
    var options: DoubleOptions

    package init() {}

    package func validate() throws {
        guard let known = ClusterService(rawValue: service), known != .sandbox else {
            throw ValidationError("'\(service)' is not a service; the services are config, authentication, authorization, autosignin and gateway")
        }
        try options.check()
    }

    package func run() async throws {
        // Checked by validate.
        guard let service = ClusterService(rawValue: service) else { return }
        let signals = StopSignals()
        let temporary = home == nil ? FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-run-\(UUID().uuidString)") : nil
        let root = home.map { URL(fileURLWithPath: $0) } ?? temporary ?? FileManager.default.temporaryDirectory
        defer { if let temporary { try? FileManager.default.removeItem(at: temporary) } }
        let ports = try PortPlan(environment: ProcessInfo.processInfo.environment)
        let lone = LoneService(
            service: service, home: ClusterHome(root: root), ports: ports, catalogue: catalogue,
            behaviour: doubles ? options.behaviour(publicOrigin: "") : nil, hasSandbox: sandbox)
        let client = HTTPExchange.makeClient()
        let outcome: Result<Void, any Error>
        do {
            try await attend(lone, HTTPExchange(client: client), signals)
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        try await client.shutdown()
        try outcome.get()
    }

    private func attend(_ lone: LoneService, _ exchange: HTTPExchange, _ signals: StopSignals) async throws {
        let console = Console(tellsEvents: json)
        let start = ContinuousClock.now
        let running = try await lone.start(exchange: exchange)
        let took = ContinuousClock.now - start
        console.line("  \(console.bold("\(service) is ready")) after \(Console.text(of: took)).\n")
        let summary = LoneServiceSummary(lone: lone, running: running, console: console)
        summary.print()
        console.event("ready", summary.members(took))
        let hasEnded = await ended(running.process, orStopped: signals)
        let words = hasEnded ? lone.lastLines() : []
        let wasKilled = await lone.stop(running)
        if hasEnded {
            console.line(console.bad("\n\(service) (process \(running.process.pid)) has ended; the last lines of its log:"))
            words.forEach { console.line("  \($0)") }
            console.event("ended", ["service": service, "pid": Int(running.process.pid), "lastLines": words])
            throw CommandExit.failed.exitCode
        }
        if wasKilled { console.line(console.bad("\(service) did not stop in 10 s and was killed")) }
        console.event("stopped", ["killed": wasKilled ? [service] : []])
        console.line("\nStopped.")
    }

    /// Waits for a signal, or for the program to end by itself.
    /// - Returns: True in the second case.
    private func ended(_ process: ServiceProcess, orStopped signals: StopSignals) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await signals.wait()
                return false
            }
            group.addTask {
                while !Task.isCancelled, process.isRunning { try? await Task.sleep(for: .milliseconds(250)) }
                return !Task.isCancelled
            }
            let first = await group.next() ?? false
            group.cancelAll()
            return first
        }
    }
}
