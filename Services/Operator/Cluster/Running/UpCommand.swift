package import ArgumentParser
internal import CommandKit
internal import Foundation

/// `boxoffice up`: starts a whole cluster on this machine, and plays one sign-in through it.
package struct UpCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "up",
        abstract: "Start a whole cluster on this machine.",
        discussion: """
            Starts what is not running, so it also brings back a service that was killed. All state is in $BOXOFFICE_HOME \
            (default: .boxoffice in the checkout); BOXOFFICE_PORT_BASE=N moves all ports.
            """
    )

    @Flag(help: "Return once the cluster is up; 'boxoffice down' stops it.")
    var detach = false

    @Flag(help: "Forget the state of an earlier run first; stops a cluster that runs.")
    var reset = false

    @Flag(help: "With --reset: do not ask.")
    var yes = false

    @Option(
        help: ArgumentHelp(
            "Run with this catalogue: it is copied to $BOXOFFICE_HOME; a catalogue of yours that is there is kept beside it.", valueName: "file"))
    var catalogue: String?

    @Option(
        help: ArgumentHelp(
            """
            Run with the settings in this folder, SERVICE.json each; the others are made. They are copied to $BOXOFFICE_HOME/settings; settings of \
            yours that are there are kept beside them.
            """, valueName: "folder"))
    var settings: String?

    @Option(
        help: ArgumentHelp(
            """
            Where services keep their stores: sqlite (a file each), postgres (a server that is started in $BOXOFFICE_HOME), or \
            the postgres:// URL of a server that has a database for each. Default: as before; at first sqlite.
            """, valueName: "store"))
    var store: String?

    @Option(
        help: ArgumentHelp(
            """
            Copies of each service, 1 to 8, which share its store; of the gateway and the sandbox, and of config with its store in a file, there is one. \
            Default: as in the cluster that runs, else 1.
            """, valueName: "count"))
    var copies: Int?

    @Flag(help: "Let phones of this machine's network open the cluster: its gateway is HTTPS at the machine's address there.")
    var lan = false

    @Option(
        name: .customLong("lan-address"),
        help: ArgumentHelp(
            "With --lan: that address, where the machine has several. Default: the one with which it reaches others.", valueName: "address"))
    var lanAddress: String?

    @Option(
        help: ArgumentHelp(
            """
            Be the bridge to another cluster of this machine, which signs people in and decides by REST v2: its home, or its cluster.json. Integrations \
            that both catalogues have move there.
            """, valueName: "home"))
    var upstream: String?

    @Flag(name: .customLong("no-demo"), help: "Do not play the sign-in.")
    var noDemo = false

    @Flag(help: "Start a service again when it dies.")
    var supervise = false

    @Option(
        name: .customLong("tls-certificate"),
        help: "PEM file of the gateway's HTTPS certificate, for a gateway that starts now; default: from the local PKI.")
    var tlsCertificate: String?

    @Option(name: .customLong("tls-key"), help: "PEM file of its key.")
    var tlsKey: String?

    @Option(
        help: ArgumentHelp(
            """
            Run with your own service at this address in place of the cluster's: config, authentication, authorization or autosignin; may be \
            repeated. Shared/Documents/Operations/Replacing.md says what it needs.
            """, valueName: "service=host:port"))
    var replace: [String] = []

    @Flag(help: "Print an event a line, as JSON: 'step', 'note', 'ready' with all addresses, and what happens later.")
    var json = false

    package init() {}

    package func validate() throws {
        guard reset || !yes else { throw ValidationError("--yes goes with --reset") }
        guard !(detach && supervise) else { throw ValidationError("--supervise watches the services from here; it cannot be --detach too") }
        _ = try Replacement.read(replace)
        _ = try StoreChoice(store)
        guard (1...ClusterCopies.most).contains(copies ?? 1) else { throw ValidationError("--copies is from 1 to \(ClusterCopies.most)") }
        guard (tlsCertificate == nil) == (tlsKey == nil) else { throw ValidationError("--tls-certificate and --tls-key go together") }
    }

    package func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let console = Console(tellsEvents: json)
        let signals = StopSignals()
        let ports = try PortPlan(environment: environment)
        guard copies ?? 1 == 1 || ports.hasRoomForCopies else {
            throw CommandFailure("there are no ports for copies above BOXOFFICE_PORT_BASE", advice: "give a number up to 65400")
        }
        let lan = try network()
        // Its authority is made by the start.
        let home = ClusterHome(environment: environment, checkout: Checkout.current)
        let isOpen = try lan != nil || ClusterFile.read(home)?.lan != nil
        let client = HTTPExchange.makeClient(trusting: isOpen ? LocalPki(folder: home.pki).path("ca.crt") : nil)
        let starter = ClusterStarter(
            home: home, ports: ports,
            checkout: Checkout.current, binaries: Checkout.binaries, console: console, exchange: HTTPExchange(client: client), https: https,
            replacements: try Replacement.read(replace), own: OwnFiles(catalogue: catalogue, settings: settings), store: try StoreChoice(store),
            copies: copies, lan: lan)
        let outcome: Result<Void, any Error>
        do {
            try await run(starter, console, signals)
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        try await client.shutdown()
        try outcome.get()
    }

    private func run(_ starter: ClusterStarter, _ console: Console, _ signals: StopSignals) async throws {
        let start = ContinuousClock.now
        if reset {
            try confirmReset(starter.home, console)
            try await starter.reset()
        }
        let other = try upstream.map { try UpstreamCluster(at: $0, besides: starter.home) }
        let started = try await starter.start()
        if let other { try await connect(starter, to: other, console) }
        let took = ContinuousClock.now - start
        console.line("  \(console.bold("The cluster is ready")) after \(Console.text(of: took)).\n")
        if !noDemo { try await starter.playSignIn(stoppingOnFailure: detach ? [] : started) }
        starter.printSummary(isDetached: detach)
        if json { console.event("ready", starter.summary(started, took)) }
        guard !detach else { return }
        await ClusterWatch(starter: starter, console: console, supervise: supervise).watch(started, until: signals)
    }

    private func connect(_ starter: ClusterStarter, to other: UpstreamCluster, _ console: Console) async throws {
        _ = try await console.step({ "\($0.joined(separator: ", ")) go to the cluster in \(other.home.root.path)" }) {
            try await other.serve(starter.home, pki: starter.pki, exchange: starter.exchange)
        }
    }

    /// - Throws: `CommandFailure` when nobody can be asked, or the answer is no.
    private func confirmReset(_ home: ClusterHome, _ console: Console) throws {
        let state = home.state.map(\.path)
        guard !yes, !state.isEmpty else { return }
        guard !json else { throw CommandFailure("--reset removes what was written by hand, and --json cannot ask", advice: "say --yes beside it") }
        console.line("  --reset removes, with all that was written there by hand:")
        for path in state { console.line("    \(path)") }
        guard isatty(STDIN_FILENO) == 1 else { throw CommandFailure("--reset removes the above, and cannot ask", advice: "say --yes beside it") }
        console.line("  Remove it? [y/N]")
        guard Question.isYes(readLine()) else { throw CommandFailure("nothing was removed", advice: "leave out --reset") }
    }

    /// This machine's address in its network, where it is to be open to it.
    private func network() throws -> String? {
        guard lan || lanAddress != nil else { return nil }
        guard let address = lanAddress ?? LanAddress.current() else {
            throw CommandFailure("this machine is in no network", advice: "name its address with --lan-address")
        }
        try LanAddress.check(address)
        return address
    }

    private var https: HttpsFiles? {
        guard let tlsCertificate, let tlsKey else { return nil }
        return HttpsFiles(certificate: tlsCertificate, key: tlsKey)
    }
}

/// This machine's IPv4 address in the network that it is in.
enum LanAddress {
    /// An address of the documentation's networks (RFC 5737): the way there is the way to all others, and nothing is sent.
    private static let elsewhere = "198.51.100.1"

    /// The address with which this machine reaches others; `nil`: it reaches none.
    static func current() -> String? {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        guard descriptor >= 0, var target = address(elsewhere, port: 9) else { return nil }
        defer { close(descriptor) }
        guard with(&target, { connect(descriptor, $0, $1) }) == 0 else { return nil }
        var own = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard with(&own, { pointer, _ in getsockname(descriptor, pointer, &size) }) == 0 else { return nil }
        var text = [CChar](repeating: 0, count: Int(INET_ADDRSTRLEN))
        guard inet_ntop(AF_INET, &own.sin_addr, &text, socklen_t(INET_ADDRSTRLEN)) != nil else { return nil }
        let found = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return found.hasPrefix("127.") ? nil : found
    }

    /// - Throws: `CommandFailure` when that is no address of this machine, or one that nobody else reaches.
    static func check(_ text: String) throws {
        guard address(text, port: 0) != nil else {
            throw CommandFailure("--lan-address is '\(text)'", advice: "give an IPv4 address of this machine, such as 192.168.1.5", exit: .usage)
        }
        guard !text.hasPrefix("127."), text != "0.0.0.0" else {
            throw CommandFailure("nobody else reaches \(text)", advice: "give the machine's address in its network", exit: .usage)
        }
        guard LocalAddress.isLocal(text) else {
            throw CommandFailure("this machine has no address \(text)", advice: "'ip -4 addr' lists those that it has", exit: .usage)
        }
    }

    private static func address(_ text: String, port: in_port_t) -> sockaddr_in? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        return inet_pton(AF_INET, text, &address.sin_addr) == 1 ? address : nil
    }

    private static func with(_ address: inout sockaddr_in, _ call: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}
