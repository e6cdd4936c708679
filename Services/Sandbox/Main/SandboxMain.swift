internal import Foundation
internal import Hummingbird
internal import Logging
internal import SandboxKit
internal import SandboxService
internal import ServiceKit
internal import ServiceLifecycle
internal import UnixSignals

/// Starts the stand-in MVPD: `sandbox --config FILE`; `--check-config` reads everything and stops.
@main
struct SandboxMain {
    static func main() async {
        do {
            try await run()
            ProgramLog.close()
            ProgramEnd.now(0)
        } catch {
            ProgramLog.close()
            StandardStream.error.write(Data("sandbox: \(error)\n".utf8))
            ProgramEnd.now((error as? StartFailure)?.exitStatus ?? 1)
        }
    }

    private static func run() async throws {
        if CommandLine.arguments.dropFirst() == ["--version"] { return print(SoftwareVersion.description) }
        let options = try Options(CommandLine.arguments.dropFirst())
        let settings = try ofSettings { try SandboxSettings(file: options.file) }
        let level = Logger.Level(rawValue: settings.logLevel) ?? .info
        if !options.checksOnly { ProgramLog.begin("sandbox") }
        LoggingSystem.bootstrap { _ in JsonLines(logLevel: level) }
        let logger = Logger(label: "sandbox")
        if !options.checksOnly {
            logger.info("program.starting", metadata: ["version": "\(SoftwareVersion.current)", "build": "\(SoftwareVersion.build)"])
        }
        let sandbox: Sandbox
        do { sandbox = try await Sandbox(settings: settings, logger: logger) } catch { throw StartFailure("\(error)", isOfSettings: true) }
        if options.checksOnly { return print("sandbox: \(options.file) is good") }
        try await serve(sandbox, settings, logger)
    }

    private static func ofSettings<Value>(_ read: () throws -> Value) throws -> Value {
        do { return try read() } catch { throw StartFailure("\(error)", isOfSettings: true) }
    }

    private static func serve(_ sandbox: Sandbox, _ settings: SandboxSettings, _ logger: Logger) async throws {
        let services: [ShieldedListener?] = [
            ShieldedListener { markBegun in
                sandbox.application { port in
                    markBegun()
                    logger.info("listening", metadata: ["port": "\(port)"])
                }
            },
            ShieldedListener { markBegun in
                sandbox.appleApplication { port in
                    markBegun()
                    logger.info("listening", metadata: ["port": "\(port)", "as": "apple"])
                }
            },
            ShieldedListener { markBegun in
                sandbox.vendorApplication { port in
                    markBegun()
                    logger.info("listening", metadata: ["port": "\(port)", "as": "upstream"])
                }
            },
            try ShieldedListener { markBegun in
                try sandbox.secureVendorApplication { port in
                    markBegun()
                    logger.info("listening", metadata: ["port": "\(port)", "as": "secure upstream"])
                }
            },
        ]
        let group = ServiceGroup(
            configuration: .init(
                services: services.compactMap(\.self), gracefulShutdownSignals: [.sigterm, .sigint],
                logger: Logger(label: "group") { _ in SwiftLogNoOpLogHandler() }))
        do {
            try await group.run()
        } catch {
            let listeners = [settings.listen, settings.apple?.listen, settings.vendor?.listen, settings.vendor?.secure?.listen]
            let addresses = listeners.compactMap(\.self).map { "\($0.address):\($0.port)" }
            throw SettingsFault(key: "listen", problem: "\(addresses.joined(separator: " and ")) cannot be served: \(error)")
        }
    }
}

/// One of the sandbox's web servers.
private struct ShieldedListener: Service {
    private let server: any Service
    private let shield = ListenerShield()

    /// - Parameter make: Makes the server, which calls what it is given when it listens; `nil`: there is none.
    init?(_ make: (@escaping @Sendable () -> Void) throws -> (any Service)?) rethrows {
        guard let server = try make({ [shield] in shield.markBegun() }) else { return nil }
        self.server = server
    }

    func run() async throws { try await shield.run(server) }
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
            default: throw SettingsFault(key: argument, problem: "is not an option; use --config FILE [--check-config], or --version")
            }
        }
        guard let file else { throw SettingsFault(key: "--config", problem: "is missing; use --config FILE [--check-config]") }
        self.file = file
        self.checksOnly = checksOnly
    }
}
