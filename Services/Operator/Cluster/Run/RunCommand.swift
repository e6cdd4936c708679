package import ArgumentParser
internal import CommandKit
internal import Foundation
package import PeerDoubles

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

/// Tells where a lone service and its doubles are, and what to try.
struct LoneServiceSummary {
    let lone: LoneService
    let running: LoneService.Running
    let console: Console

    func print() {
        let addresses = ClusterAddresses(ports: lone.ports)
        var rows = [(lone.service.rawValue, lone.service == .gateway ? addresses.gateway : "\(addresses.main(lone.service)) (RPC, mutual TLS)")]
        for (peer, address) in (running.doubles?.addresses ?? [:]).sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            rows.append(("\(peer.rawValue)", "\(address) (double)"))
        }
        if running.sandbox != nil { rows.append(("sandbox", "\(addresses.sandbox), Apple at \(addresses.apple), upstream at \(addresses.upstream)")) }
        let pki = running.file.pki
        rows += [
            ("Metrics", "http://\(addresses.debug(lone.service))/metrics"), ("Certificates", "\(pki.ca), \(pki.clientCert), \(pki.clientKey)"),
            ("Log", lone.home.log(of: lone.service).path), ("For scripts", lone.home.clusterFile.path),
        ]
        let width = (rows.map(\.0.count).max() ?? 0) + 2
        rows.forEach { console.line("  \($0.0.padding(toLength: width, withPad: " ", startingAt: 0))\($0.1)") }
        console.line("\n  \(console.bold("Try next"))")
        tries.forEach { console.line("    \($0)") }
        console.line("\n  Ctrl-C stops it\(running.doubles == nil ? "" : " and its doubles").")
    }

    /// The members that a program wants to know.
    /// - Parameter took: Until it was ready.
    func members(_ took: Duration) -> [String: Any] {
        let addresses = ClusterAddresses(ports: lone.ports)
        let pki = running.file.pki
        let doubles = (running.doubles?.addresses ?? [:]).map { ($0.key.rawValue, "\($0.value)") }
        var members: [String: Any] = [
            "service": lone.service.rawValue, "milliseconds": Console.milliseconds(took), "pid": Int(running.process.pid),
            "address": lone.service == .gateway ? addresses.gateway : addresses.main(lone.service),
            "metrics": "http://\(addresses.debug(lone.service))/metrics", "doubles": Dictionary(uniqueKeysWithValues: doubles),
            "pki": ["ca": pki.ca, "clientCert": pki.clientCert, "clientKey": pki.clientKey], "log": lone.home.log(of: lone.service).path,
            "clusterFile": lone.home.clusterFile.path,
        ]
        if running.sandbox != nil { members["sandbox"] = ["mvpd": addresses.sandbox, "apple": addresses.apple, "upstream": addresses.upstream] }
        return members
    }

    private var tries: [String] {
        let program = Checkout.commandLine
        guard lone.service == .gateway else { return ["\(program) conformance \(lone.service.rawValue) --help"] }
        let gateway = running.file.gateway
        let device =
            "-H 'Authorization: Bearer any' -H \"X-Device-Info: $(printf '{\"model\":\"TV\",\"osName\":\"Linux\"}' | base64 -w0)\" -H 'Accept: application/json'"
        return [
            "curl -s '\(gateway)/api/v1/config/ACME1.json'", "curl -s \(device) -d deviceId=tv-1 '\(gateway)/reggie/v1/ACME1/regcode'",
            "curl -s \(device) '\(gateway)/api/v1/tokens/authn?requestor=ACME1&deviceId=tv-1'",
            "curl -s \(device) '\(gateway)/api/v1/authorize?requestor=ACME1&deviceId=tv-1&resource=ACME1-NEWS'",
            "BOXOFFICE_HOME=\(lone.home.root.path) \(program) device --as ada",
        ]
    }
}

/// The doubles of a lone service answer in this way, from the command line.
package struct DoubleOptions: ParsableArguments {
    @Option(name: .customLong("double-latency"), help: "How long each double waits before it answers: 250us, 5ms, 1s.")
    var latency = TimeSpan(.zero)

    @Option(name: .customLong("double-errors"), help: "Share of calls to doubles that fail with 'unavailable', evenly spread: 1%.")
    var errors = Share(0)

    @Option(
        name: .customLong("double-sessions"),
        help: "Who is signed in: 'every-device' that has not signed out, or only those for which it was played ('after-sign-in').",
        transform: signedIn)
    var signedIn = DoubleBehaviour.SignedIn.everyDevice

    @Option(name: .customLong("double-mvpd"), help: "Where devices are signed in; default: the requestor's first MVPD with a login.")
    var mvpd: String?

    @Option(name: .customLong("double-user"), help: "The person's id at the MVPD, for every device; default: a person for each device.")
    var user: String?

    @Option(name: .customLong("double-deny"), help: "A resource that is denied to all; may be repeated.")
    var denied: [String] = []

    package init() {}

    /// - Throws: `ValidationError` when an answer would take too long.
    package func check() throws {
        guard latency.duration <= .seconds(60) else { throw ValidationError("--double-latency is 60s at most") }
    }

    package func behaviour(publicOrigin: String) -> DoubleBehaviour {
        var behaviour = DoubleBehaviour()
        behaviour.latency = latency.duration
        behaviour.errors = errors.fraction
        behaviour.signedIn = signedIn
        behaviour.mvpd = mvpd
        behaviour.user = user
        behaviour.denied = Set(denied)
        behaviour.publicOrigin = publicOrigin
        return behaviour
    }

    private static func signedIn(_ argument: String) throws -> DoubleBehaviour.SignedIn {
        if let value = DoubleBehaviour.SignedIn(rawValue: argument) { return value }
        throw ValidationError("--double-sessions is 'every-device' or 'after-sign-in', not '\(argument)'")
    }
}

/// A part of a whole on the command line: `1%`, `0.01`.
struct Share: ExpressibleByArgument, Hashable, Sendable {
    /// 0 to 1.
    let fraction: Double

    init(_ fraction: Double) { self.fraction = fraction }

    init?(argument: String) {
        let isPercent = argument.hasSuffix("%")
        guard let value = Double(isPercent ? argument.dropLast() : argument[...]), value.isFinite else { return nil }
        fraction = isPercent ? value / 100 : value
        guard (0...1).contains(fraction) else { return nil }
    }

    /// As people write it: `2.5%`.
    var defaultValueDescription: String {
        let percent = (fraction * 1000).rounded() / 10
        return percent == percent.rounded() ? "\(Int(percent))%" : "\(percent)%"
    }
}
