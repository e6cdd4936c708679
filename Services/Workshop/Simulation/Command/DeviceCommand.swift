package import ArgumentParser
internal import CommandKit
internal import EntitlementClient
internal import Foundation

/// `boxoffice device`: simulated devices against a running cluster.
package struct DeviceCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Play a TV: show a registration code, wait for the sign-in, authorize a channel, verify its media token.",
        discussion: """
            In a terminal it is a TV with a remote; with --plain, or elsewhere, it prints its steps. Without --as you sign in yourself on the \
            second screen; with --as a simulated person of the sandbox does it. With --platform-sso an Apple TV signs in by its own \
            framework, without a code. With --apple-account the first device of an Apple Account puts a value on it after its sign-in, and \
            further ones sign in by that value. --script plays a file of steps, --count many devices at once.

            A COMMAND is one step on a device that remembers: status, signin, play RESOURCE, preflight R1,R2, metadata KEY, providers, logout, \
            auto-signin status|enable|redeem|disable, run SCRIPT.

            --api v2 plays an app on REST v2: in a terminal a TV with a menu of the flows, elsewhere --flow (a to l, or all; default a).

            --as kodi, sdk or signed plays an app of the past: Kodi's add-ons and recorders that sign their requests, programs on the vendor's SDKs.

            Exit codes: 0 done, 1 not signed in or refused, 2 usage or a bad script, 3 configuration, 4 network, 5 the code expired, \
            6 an expectation failed, 130 given up.
            """
    )

    private static let stepNames = ["status", "signin", "play", "preflight", "metadata", "providers", "logout", "auto-signin", "run"]

    @Argument(help: "One step: status, signin, play, preflight, metadata, providers, logout, auto-signin, run.", completion: .list(Self.stepNames))
    var command: [String] = []

    @Option(help: "Base URL of the gateway; default: that of the local cluster.")
    var gateway: String?

    @Option(help: "The channel's brand.", completion: .catalogue(.requestors))
    var requestor = "ACME1"

    @Option(help: "What to watch.")
    var resource = "ACME1-NEWS"

    @Option(help: "What the TV lists, separated by commas; default: the channels of the demo catalogue.")
    var channels: String?

    @Option(
        name: [.customLong("as"), .customLong("person")],
        help:
            "The sandbox's person who signs in: ada, ben, cleo, dan or eve. Or an older app, with ada: kodi, sdk or signed.",
        completion: .list(SandboxPeople.names + FormerClient.Kind.allCases.map(\.rawValue)))
    var person: String?

    @Flag(
        name: .customLong("platform-sso"), help: "Sign in by the Apple TV's own framework, as the sandbox plays it; the person is ada unless named.")
    var usesPlatform = false

    @Option(
        name: .customLong("apple-account"),
        help: "The device's Apple Account, any name: looks for the app's value there and signs in by it; else signs in and offers automatic sign-in.")
    var appleAccount: String?

    @Flag(
        name: .customLong("opt-in"), inversion: .prefixedNo,
        help: "With --apple-account: whether the person wants automatic sign-in; default: you are asked, a simulated person wants it.")
    var optIn: Bool?

    @Flag(
        name: .customLong("sign-out-everywhere"),
        help: "With --apple-account: turn automatic sign-in off on all devices of that Apple Account, and watch nothing.")
    var signsOutEverywhere = false

    @Option(name: .customLong("bundle-id"), help: "The app's bundle id at Apple; default: that of the requestor's app in the demo catalogue.")
    var bundleID: String?

    @Option(
        name: [.customLong("mvpd"), .customLong("provider")],
        help: "The MVPD where that person signs in; default: NorthCable, with --count those of the demo catalogue in turn.",
        completion: .catalogue(.mvpds))
    var mvpd: String?

    @Option(help: "The device's id; default: a new one.")
    var deviceID: String?

    @Option(help: "The API of the app: v1, or v2 with its flows.", completion: .list(["v1", "v2"]))
    var api = "v1"

    @Option(help: "With --api v2: the flow, a to l, or all.", completion: .list(V2Flow.allCases.map(\.rawValue) + ["all"]))
    var flow: String?

    @Option(name: .customLong("platform-token"), help: "With --api v2: the device's identity, sent as Adobe-Subject-Token; default: the sandbox's.")
    var platformToken: String?

    @Option(name: .customLong("service-token"), help: "With --api v2: a person's identity at the programmer, sent as AD-Service-Token.")
    var serviceToken: String?

    @Option(help: "What sign-in looks like on it: tvos or ios.", completion: .list(["tvos", "ios"]))
    var platform = "tvos"

    @Option(help: "A folder that keeps the device and its sessions between runs.", completion: .directory)
    var state: String?

    @Option(help: "Play the steps of a file; an example is in the README of the command line.", completion: .file())
    var script: String?

    @Option(help: "What the device's platform and person do, a file of JSON (client-sdk §4.2); for a COMMAND.", completion: .file())
    var scenario: String?

    @Option(help: "Sign in that many simulated devices in one process, 1 to 100000.")
    var count: Int?

    @Option(name: .customLong("at-once"), help: "With --count: devices under way at once, 1 to 1000.")
    var atOnce = 32

    @Option(help: "With signin: the platform's picker lists only these MVPDs, separated by commas.")
    var filter: String?

    @Flag(help: "With signin: sign in even if the device is signed in already.")
    var force = false

    @Flag(help: "Print a line of JSON for each callback and step.")
    var json = false

    @Flag(help: "Print steps as lines, also in a terminal.")
    var plain = false

    @Flag(name: .customLong("no-qr"), help: "Show registration codes without a QR code.")
    var hidesQrCode = false

    @Option(
        help: "Software statement, or a file that holds it; default: that of the requestor's application in the local cluster.", completion: .file())
    var statement: String?

    @Option(help: "Certificates that verify the media token, PEM file; default: the gateway's.", completion: .file())
    var certificate: String?

    @Option(help: "Seconds between two polls, 3 to 60.")
    var poll: Double = 5

    package init() {}

    package func validate() throws {
        guard (3...60).contains(poll) else { throw ValidationError("--poll takes 3 to 60 seconds") }
        guard appleAccount?.isEmpty != true else { throw ValidationError("--apple-account takes a name") }
        guard appleAccount != nil || (optIn == nil && !signsOutEverywhere && bundleID == nil) else {
            throw ValidationError("--opt-in, --sign-out-everywhere and --bundle-id go with --apple-account")
        }
        guard ["tvos", "ios"].contains(platform) else { throw ValidationError("--platform takes tvos or ios") }
        guard count.map({ (1...100_000).contains($0) }) ?? true else { throw ValidationError("--count takes 1 to 100000") }
        guard (1...1000).contains(atOnce) else { throw ValidationError("--at-once takes 1 to 1000") }
        guard [count != nil, script != nil, !command.isEmpty].filter({ $0 }).count <= 1 else {
            throw ValidationError("--count, --script and a COMMAND are three things: give one of them")
        }
        guard ["v1", "v2"].contains(api) else { throw ValidationError("--api takes v1 or v2") }
        guard api == "v2" || (flow == nil && platformToken == nil && serviceToken == nil) else {
            throw ValidationError("--flow, --platform-token and --service-token go with --api v2")
        }
        guard flow.map({ $0 == "all" || V2Flow($0) != nil }) ?? true else { throw ValidationError("--flow takes a to l, or all") }
        guard api == "v1" || (count == nil && script == nil && command.isEmpty && appleAccount == nil && !usesPlatform && state == nil) else {
            throw ValidationError("--api v2 plays flows: without a COMMAND, --script, --count, --state, --platform-sso or --apple-account")
        }
        guard scenario == nil || !command.isEmpty else { throw ValidationError("--scenario goes with a COMMAND; a script has one of its own") }
    }

    package func run() async throws {
        let client = HTTPExchange.makeClient(
            connections: count == nil ? 8 : max(8, atOnce), trusting: try? ClusterFile.read(home)?.authority)
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await run(HTTPExchange(client: client)))
        } catch {
            outcome = .failure(error)
        }
        try await client.shutdown()
        do {
            try outcome.get()
        } catch let failure as DeviceFailure {
            CommandExit.explain(failure.description)
            throw failure.exit.exitCode
        }
    }
}

extension DeviceCommand {
    /// Plays an app on REST v2: one flow, all of them, or those that a person chooses with a remote.
    func playV2(on setup: DeviceSetup) async throws {
        let console = Console()
        let player = try await player(on: setup, V2Lines(console: console, gateway: setup.gateway, hasQrCode: !hidesQrCode))
        if flow == nil, isTv { return try await show(V2Tv(player)) }
        let flows = flow == "all" ? V2Flow.allCases : [flow.flatMap { V2Flow($0) } ?? .a]
        for flow in flows {
            if flows.count > 1 { console.line(console.bold("\n\(flow.name)  \(flow.title)")) }
            do {
                try await player.play(flow)
            } catch let failure as CommandFailure {
                throw DeviceFailure(.refused, nil, "flow \(flow.name): \(failure)")
            } catch {
                let failure = DeviceFailure(error)
                throw DeviceFailure(failure.exit, failure.code, "flow \(flow.name): \(failure)")
            }
        }
    }

    private func player(on setup: DeviceSetup, _ stage: some V2Stage) async throws -> V2Player {
        let cluster = try ClusterFile.read(home)
        // Offices and services of the demo catalogue belong to one programmer each.
        let (programmer, statements) = (isOfBravo ? "bravo" : "acme", try await SoftwareStatements.all(of: cluster))
        let management = statements["\(programmer)-ops"].flatMap { statement in
            cluster.map { V2Player.ManagementAccess(administration: $0.administration, statement: statement, company: programmer) }
        }
        return V2Player(
            setup: setup, stage: stage, person: person, mvpd: mvpd ?? "NorthCable", resource: resource, channels: listedChannels,
            deviceID: deviceID,
            pollInterval: .seconds(poll), management: management, backendStatement: statements["\(programmer)-backend"],
            identity: V2App.Identity(platformToken: platformToken, serviceToken: serviceToken))
    }
}

extension DeviceCommand {
    /// True when the options and the terminal ask for a TV with a remote.
    var isTv: Bool {
        person == nil && !usesPlatform && appleAccount == nil && deviceID == nil && state == nil && !plain && !json && TvTerminal.isThere
            && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    /// Plays TVs until the person switches them off.
    func playTv(on setup: DeviceSetup) async throws {
        let settings = TvProgram.Settings(
            channels: listedChannels, appleAccount: setup.apple.map { _ in "tv-\(UUID().uuidString)" }, pollInterval: .seconds(poll))
        try await show(TvProgram(settings, on: setup))
    }

    /// The channels that the TV lists.
    var listedChannels: [String] { channels.map(Self.list) ?? Self.demoChannels[requestor] ?? [resource] }

    func show(_ program: some TvShow) async throws {
        guard let terminal = TvTerminal() else { throw DeviceFailure(.usage, nil, "the terminal cannot be taken over: use --plain") }
        defer { terminal.close() }
        try await program.start()
        let (console, signals) = (Console(), StopSignals())
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await key in terminal.keys { await program.press(key) } }
            group.addTask { await signals.wait() }
            group.addTask {
                var shown: [String] = []
                while await !program.isOver, !Task.isCancelled {
                    let size = terminal.size
                    let lines = TvFrame(console, width: size.width, height: size.height).lines(await program.screen)
                    if lines != shown { terminal.draw(lines) }
                    shown = lines
                    try? await Task.sleep(for: .milliseconds(50))
                }
            }
            await group.next()
            await program.stop()
            terminal.close()
            group.cancelAll()
        }
        if await program.isInterrupted { throw CommandExit.cancelled.exitCode }
    }

    /// The channels that the demo catalogue's requestors show.
    private static let demoChannels = [
        "ACME1": ["ACME1-NEWS", "ACME1-SPORT", "ACME1-KIDS"], "ACME2": ["ACME2-MOVIES"],
    ]
}
