internal import ArgumentParser
internal import CommandKit
internal import EntitlementClient
internal import EntitlementSimulator
internal import Foundation
internal import LoadReporting
internal import ServiceKit
internal import Synchronization

extension DeviceCommand {
    /// Plays the script of a file.
    func play(script file: String, on setup: DeviceSetup) async throws {
        let script: DeviceScript
        do {
            script = try DeviceScript(json: try TextFile.read(file), file: file)
        } catch let failure as CommandFailure {
            throw DeviceFailure(.usage, nil, failure.description)
        }
        var runner = ScriptRunner(setup: setup, journal: DeviceJournal(console: Console(), isJSON: json), hasQrCode: !hidesQrCode)
        runner.settings.pollInterval = .seconds(poll)
        runner.settings.appleAccount = appleAccount
        try await runner.run(script)
    }

    /// Plays one step on a device that remembers.
    func playCommand(on setup: DeviceSetup) async throws {
        if command[0] == "run" {
            guard command.count == 2 else { throw DeviceFailure(.usage, nil, "run takes a script: boxoffice device run FILE") }
            return try await play(script: command[1], on: setup)
        }
        let action = try action()
        var runner = ScriptRunner(
            setup: setup, journal: DeviceJournal(console: Console(), isJSON: json), hasQrCode: !hidesQrCode, isDetailed: true)
        let folder = state.map { URL(fileURLWithPath: $0) } ?? home.data.appendingPathComponent("device")
        runner.settings = SimulatedDevice.Settings(
            id: try deviceID ?? Self.keptID(folder), person: person ?? "ada", appleAccount: appleAccount, approves: { [optIn] in optIn ?? true },
            folder: folder, pollInterval: .seconds(poll))
        var device = DeviceScript.Device(platform: platform == "ios" ? .iOS : .tvOS, person: person ?? "ada")
        device.scenario = try scenarioOfFile() ?? (usesPlatform ? Self.signedIn : nil)
        let report = try await runner.run(DeviceScript(devices: [device], steps: [ScriptStep(action: action)]))
        if case .status = action, report?.session == nil { throw CommandExit.refused.exitCode }
    }

    static let signedIn = Scenario(permission: .init(initial: "granted"), system: .init(provider: "north-cable"))

    private func action() throws -> ScriptAction {
        let arguments = command.dropFirst()
        switch (command[0], arguments.count) {
        case ("status", 0): return .status
        case ("providers", 0): return .providers
        case ("logout", 0): return .logout
        case ("signin", 0):
            return .signIn(
                ScriptAction.SignIn(
                    provider: mvpd ?? "NorthCable", conduct: person.map { .signsIn($0) } ?? .waits, isForced: force, filter: filter.map(Self.list)))
        case ("play", 0...1): return .play(arguments.first ?? resource)
        case ("preflight", 1): return .preflight(Self.list(arguments[1]))
        case ("metadata", 1): return .metadata(arguments[1])
        case ("auto-signin", 1):
            guard let order = ScriptAction.AutoSignIn(rawValue: arguments[1]) else { break }
            return .autoSignIn(order)
        default: break
        }
        throw DeviceFailure(
            .usage, nil,
            "'\(command.joined(separator: " "))' is no command: there are status, signin, play RESOURCE, preflight R1,R2, metadata KEY, "
                + "providers, logout, auto-signin status|enable|redeem|disable, run SCRIPT")
    }

    private func scenarioOfFile() throws -> Scenario? {
        guard let scenario else { return nil }
        do {
            return try Scenario(json: try TextFile.read(scenario), file: scenario)
        } catch let failure as CommandFailure {
            throw DeviceFailure(.usage, nil, failure.description)
        }
    }

    static func list(_ text: String) -> [String] { text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) } }

    /// The id of the device in that folder; a new one is kept there.
    private static func keptID(_ folder: URL) throws -> String {
        let file = folder.appendingPathComponent("device-id")
        if let id = try? String(contentsOf: file, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines), !id.isEmpty { return id }
        let id = UUID().uuidString
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try Data((id + "\n").utf8).write(to: file, options: .atomic)
        } catch {
            throw DeviceFailure(.usage, nil, "cannot keep the device in \(folder.path): \(PlainReason.of(error)); name another with --state DIR")
        }
        return id
    }
}

extension DeviceCommand {
    /// Several people at several MVPDs: a cluster limits the media tokens of one of them (rest-v1 §2.7).
    private static let demoMvpds = ["NorthCable", "LakeTel", "OpenFiber"]

    /// Signs many devices in, and tells how it went.
    func playFleet(_ count: Int, on setup: DeviceSetup) async throws {
        let (console, line) = (Console(isQuiet: json), FleetProgress(isShown: !json))
        let fleet = DeviceFleet(
            setup: setup, count: count, atOnce: atOnce, resource: resource, mvpds: mvpd.map { [$0] } ?? Self.demoMvpds,
            people: person.map { [$0] } ?? ["ada", "ben", "dan"])
        var summary = try await fleet.run { line.show($0.progress, isLast: $0.finished == $0.count) }
        summary.build = await gatewayBuild(setup)
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            StandardStream.output.writeOrEnd(try encoder.encode(summary.json) + Data("\n".utf8))
        } else {
            console.line()
            summary.lines(console).forEach { console.line($0) }
        }
        if !json, summary.build == .debug || SoftwareVersion.build == ServiceBuild.debug.rawValue { console.line("\n\(ServiceBuild.warning)") }
        guard summary.failed == 0 else { throw DeviceFailure(.refused, nil, "\(summary.failed) of \(count) devices did not get through") }
    }

    /// The build of a gateway that is this cluster's; nobody knows where another one has its metrics.
    private func gatewayBuild(_ setup: DeviceSetup) async -> ServiceBuild {
        guard let cluster = try? ClusterFile.read(home), cluster.gateway == setup.gateway || cluster.gatewayTLS == setup.gateway,
            let debug = cluster.services[ClusterService.gateway.rawValue]?.debug
        else { return .unknown }
        var exchange = setup.exchange
        exchange.timeout = .seconds(2)
        return await exchange.build(metricsURL: "http://\(debug)/metrics")
    }
}

/// One line that is written over, in a terminal; now and then a line elsewhere.
private final class FleetProgress: Sendable {
    private let isShown: Bool
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let last = Mutex(ContinuousClock.Instant?.none)

    init(isShown: Bool) { self.isShown = isShown }

    func show(_ text: String, isLast: Bool) {
        guard isShown else { return }
        let pause: Duration = isTerminal ? .milliseconds(100) : .seconds(5)
        let isDue = last.withLock { last in
            let now = ContinuousClock.now
            guard isLast || last.map({ $0.duration(to: now) >= pause }) ?? true else { return false }
            last = now
            return true
        }
        guard isDue else { return }
        let line = isTerminal ? "\r\u{1b}[K  \(text)\(isLast ? "\n" : "")" : "  \(text)\n"
        StandardStream.error.writeOrEnd(Data(line.utf8))
    }
}

extension DeviceCommand {
    /// Does what the options say.
    func run(_ exchange: HTTPExchange) async throws {
        let setup = try await setup(exchange)
        if api == "v2" { return try await playV2(on: setup) }
        if let script { return try await play(script: script, on: setup) }
        if let count { return try await playFleet(count, on: setup) }
        if !command.isEmpty { return try await playCommand(on: setup) }
        if let kind = person.flatMap(FormerClient.Kind.init) { return try await play(kind, on: setup) }
        if isTv { return try await playTv(on: setup) }
        try await session(setup).play(deviceID: deviceID ?? UUID().uuidString)
    }

    private func play(_ kind: FormerClient.Kind, on setup: DeviceSetup) async throws {
        try await FormerClient(
            kind: kind, setup: setup, cluster: try ClusterFile.read(home), person: "ada", mvpd: mvpd ?? "NorthCable", resource: resource,
            deviceID: deviceID ?? UUID().uuidString, console: Console()
        ).play()
    }

    private func session(_ setup: DeviceSetup) throws -> DeviceSession {
        let viewer: DeviceSession.Viewer =
            if usesPlatform {
                .platform(person: person ?? "ada")
            } else if let person {
                .simulated(name: person, mvpd: mvpd ?? "NorthCable")
            } else {
                .person(mvpd: mvpd ?? "NorthCable")
            }
        let console = Console()
        return DeviceSession(
            console: console, setup: setup, resource: resource, viewer: viewer, hasQrCode: !hidesQrCode, pollInterval: .seconds(poll),
            appleAccount: appleAccount.map { name in
                DeviceSession.AppleAccountUse(name: name, approves: approval(console), endsEverything: signsOutEverywhere)
            }, folder: state.map { URL(fileURLWithPath: $0) })
    }

    /// The answer to the sheet of Automatic Sign-In.
    func approval(_ console: Console) -> @Sendable () async -> Bool {
        let fixed = optIn ?? (person != nil || usesPlatform ? true : nil)
        return {
            if let fixed { return fixed }
            console.line("\n  Sign in by yourself on the other devices of this Apple Account? [y/N] ")
            return readLine()?.lowercased().hasPrefix("y") ?? false
        }
    }

    // MARK: - The cluster

    private func setup(_ exchange: HTTPExchange) async throws -> DeviceSetup {
        let cluster = try ClusterFile.read(home)
        guard let gateway = gateway ?? cluster?.gateway else {
            throw CommandFailure(
                "no cluster runs here", advice: "start one with ./Services/up, or name a gateway with --gateway URL", exit: .unreachable)
        }
        return DeviceSetup(
            exchange: exchange, gateway: gateway, requestor: requestor, statement: try await softwareStatement(cluster),
            apple: cluster?.sandbox.apple, bundleID: bundleID ?? (isOfBravo ? "example.bravo.tv" : "example.acme.tv"),
            certificates: try certificate.map(TextFile.read),
            upstreamCertificates: self.gateway == nil ? try cluster?.upstreamCertificates() : nil)
    }

    var home: ClusterHome { ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current) }

    var isOfBravo: Bool { requestor.hasPrefix("BRAVO") }

    private func softwareStatement(_ cluster: ClusterFile?) async throws -> String {
        if let statement {
            let text = FileManager.default.fileExists(atPath: statement) ? try TextFile.read(statement) : statement
            return text.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        let statements = try await SoftwareStatements.all(of: cluster)
        guard let found = statements[isOfBravo ? "bravo-tv" : "acme-tv"] ?? statements.first?.value else {
            throw CommandFailure("there is no software statement for \(requestor)", advice: "pass --statement JWT or a file that holds it")
        }
        return found
    }
}
