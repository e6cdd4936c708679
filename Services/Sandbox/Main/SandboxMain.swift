internal import Foundation
internal import Hummingbird
internal import Logging
internal import SandboxService

/// Starts the stand-in MVPD: `sandbox --config FILE`; `--check-config` reads everything and stops.
@main
struct SandboxMain {
    static func main() async {
        do {
            let options = try Options(CommandLine.arguments.dropFirst())
            let settings = try SandboxSettings(file: options.file)
            let level = Logger.Level(rawValue: settings.logLevel) ?? .info
            LoggingSystem.bootstrap { _ in JsonLines(logLevel: level) }
            let logger = Logger(label: "sandbox")
            let sandbox = try await Sandbox(settings: settings, logger: logger)
            if options.checksOnly { return print("sandbox: \(options.file) is good") }
            try await serve(sandbox, on: settings.listen, logger)
        } catch {
            FileHandle.standardError.write(Data("sandbox: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func serve(_ sandbox: Sandbox, on listener: SandboxSettings.Listener, _ logger: Logger) async throws {
        do {
            try await sandbox.application { port in logger.info("listening", metadata: ["port": "\(port)"]) }.runService()
        } catch {
            throw SettingsFault(key: "listen", problem: "\(listener.address):\(listener.port) cannot be served: \(error)")
        }
    }
}

private struct Options {
    let file: String
    let checksOnly: Bool

    init(_ arguments: ArraySlice<String>) throws(SettingsFault) {
        var file: String?
        var checksOnly = false
        var rest = arguments
        while let argument = rest.popFirst() {
            switch argument {
            case "--config": file = rest.popFirst()
            case "--check-config": checksOnly = true
            default: throw SettingsFault(key: argument, problem: "is not an option; use --config FILE [--check-config]")
            }
        }
        guard let file else { throw SettingsFault(key: "--config", problem: "is missing; use --config FILE [--check-config]") }
        self.file = file
        self.checksOnly = checksOnly
    }
}
