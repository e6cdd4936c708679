internal import ArgumentParser
internal import CommandKit
internal import EntitlementClient
internal import EntitlementSimulator
internal import Foundation

extension DeviceCommand {
    /// Plays the script of a file.
    func play(script file: String, on ground: DeviceGround) async throws {
        let script: DeviceScript
        do {
            script = try DeviceScript(json: try TextFile.read(file), file: file)
        } catch let failure as CommandFailure {
            throw DeviceFailure(.usage, nil, failure.description)
        }
        var runner = ScriptRunner(ground: ground, journal: DeviceJournal(console: Console(), isJSON: json), hasQrCode: !hidesQrCode)
        runner.settings.pollInterval = .seconds(poll)
        runner.settings.appleAccount = appleAccount
        try await runner.run(script)
    }

    /// Plays one step on a device that remembers.
    func playCommand(on ground: DeviceGround) async throws {
        if command[0] == "run" {
            guard command.count == 2 else { throw DeviceFailure(.usage, nil, "run takes a script: boxoffice device run FILE") }
            return try await play(script: command[1], on: ground)
        }
        let action = try action()
        var runner = ScriptRunner(
            ground: ground, journal: DeviceJournal(console: Console(), isJSON: json), hasQrCode: !hidesQrCode, isDetailed: true)
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
