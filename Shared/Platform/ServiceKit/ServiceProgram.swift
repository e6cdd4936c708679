#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import Clocks
internal import CoreMetrics
internal import Foundation
internal import Logging
internal import OutboundHttp
internal import ServiceLifecycle
internal import Spans
public import Storage
internal import StoragePostgres
internal import Telemetry

/// A service as a program: `--config FILE [--check-config | --describe-store]`, `--version`, logs, metrics, health, signals, exit status.
///
///     @main struct Main {
///         static func main() async {
///             await ServiceProgram.run("config", settings: ConfigSettings.self) { environment in
///                 let service = …
///                 environment.offer { registry in ConfigMethods.register(service, in: &registry) }
///             }
///         }
///     }
public enum ServiceProgram {
    /// Checks service settings beyond their types, reading the files they name: at each start, and for `--check-config`.
    public typealias Check<Settings> = @Sendable (Settings, SettingsFiles) throws -> Void
    /// Warnings for an operator about settings with which the program starts all the same. Each is one line that begins with a key; for
    /// `--check-config`.
    public typealias Doubts<Settings> = @Sendable (Settings, CommonSettings, SettingsFiles) -> [String]
    public typealias Builder<Settings: Decodable & Sendable> = @Sendable (ServiceEnvironment<Settings>) async throws -> Void

    /// Runs the service until SIGTERM or SIGINT and ends the process. The status is 0 after an orderly stop. With a line on standard error for each
    /// problem, it is 78 when the settings are wrong. It is 1 when it cannot start for another reason, or breaks.
    /// - Parameters:
    ///   - name: The name of the service; also the key of its own object in the settings file.
    ///   - settings: Its own settings; `NoSettings` when it has none.
    ///   - keepsStore: False: a settings file that says where its store is has no meaning.
    ///   - sweeps: The sweeps of the service's expired rows, for operators of its store.
    ///   - check: Throws `StartFailure` (see `SettingsFiles.failure`) when the settings cannot work.
    ///   - doubts: The doubts of its settings, the common ones among them.
    ///   - build: Makes the service; what it throws is the reason for not starting.
    public static func run<Settings: Decodable & Sendable>(
        _ name: String, settings: Settings.Type, keepsStore: Bool = true, sweeps: [Sweep] = [], check: Check<Settings> = { _, _ in },
        doubts: Doubts<Settings> = { _, common, _ in common.doubts() }, _ build: @escaping Builder<Settings>
    ) async -> Never {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments == ["--version"] {
            print(SoftwareVersion.description)
            ProgramEnd.now(0)
        }
        do {
            let options = try CommandLineOptions(arguments, program: name)
            let environment: ServiceEnvironment<Settings>
            do {
                environment = try prepare(name, options, keepsStore: keepsStore, sweeps: sweeps, check: check, doubts: doubts)
            } catch {
                throw StartFailure.ofSettings(error)
            }
            if options.describesStore {
                try await build(environment)
                throw StartFailure("\(name) keeps no store")
            }
            try await environment.serve(toldTo: ServiceManager()) {
                do {
                    try await build(environment)
                } catch {
                    // A program that is asked to stop before it has started has not failed.
                    if Task.isCancelled { throw error }
                    fail(name, error)
                }
            } overdue: {
                endLate(name, $0, environment.logger)
            }
            LogWriter.standard.close()
            ProgramEnd.now(0)
        } catch {
            fail(name, error)
        }
    }

    /// Reads the settings and checks them, with the files that they name: the same for a start and for `--check-config`, which ends here.
    private static func prepare<Settings: Decodable & Sendable>(
        _ name: String, _ options: CommandLineOptions, keepsStore: Bool, sweeps: [Sweep], check: Check<Settings>, doubts: Doubts<Settings>
    ) throws -> ServiceEnvironment<Settings> {
        let document = try SettingsReader.read(Settings.self, section: name, file: options.settingsFile)
        let (common, files) = (document.common, SettingsFiles(settingsFile: options.settingsFile))
        if !keepsStore, common.saysStorage {
            throw files.failure("storage", "has no meaning here: \(name) keeps no store; remove it")
        }
        if options.describesStore { return try bootstrap(name, document, files, sweeps) }
        try check(document.specific, files)
        try common.storage.check(files)
        _ = try common.outbound.resolved(files)
        _ = try common.telemetry.resolved(files, environment: ProcessInfo.processInfo.environment)
        if options.checksOnly { try finishCheck(name, common, files, doubts(document.specific, common, files)) }
        return try bootstrap(name, document, files, nil)
    }

    private static func finishCheck(_ name: String, _ common: CommonSettings, _ files: SettingsFiles, _ doubts: [String]) throws -> Never {
        let quiet = Logger(label: name, factory: { _ in SwiftLogNoOpLogHandler() })
        _ = try ServiceParts(program: name, common: common, files: files, logger: quiet)
        // Its files are looked at, too.
        if common.storage.engine == .postgres { _ = PostgresOptions(common.storage, program: name, files: files) }
        let doubts = doubts + CertificateDoubts.of(files.paths, at: SystemClock().now())
        for doubt in doubts { print("\(name): \(doubt)") }
        print("\(name): \(files.settingsFile) is good" + (doubts.isEmpty ? "" : ", but for what is said above"))
        ProgramEnd.now(0)
    }

    private static func bootstrap<Settings>(
        _ name: String, _ document: SettingsDocument<Settings>, _ files: SettingsFiles, _ described: [Sweep]?
    ) throws -> ServiceEnvironment<Settings> {
        if let described {
            return try ServiceEnvironment(
                name: name, document: document, files: files, logger: Logger(label: name, factory: { _ in SwiftLogNoOpLogHandler() }),
                clock: SystemClock(), metrics: PrometheusMetrics(), described: described)
        }
        // First: the log has a metric of its own.
        let metrics = PrometheusMetrics()
        MetricsSystem.bootstrap(metrics)
        let level = document.common.log.level
        ProgramLog.begin(name, document.common.log.retention)
        LoggingSystem.bootstrap { _ in JsonLogHandler(service: name, level: level, output: .standard) }
        let logger = Logger(label: name)
        logger.info("program.starting", metadata: ["version": "\(SoftwareVersion.current)", "build": "\(SoftwareVersion.build)"])
        signal(SIGPIPE, SIG_IGN)
        ProcessorShare.adopt()
        let telemetry = try TelemetryExport(name, document.common, files, metrics: metrics, logger: logger)
        let environment = try ServiceEnvironment(
            name: name, document: document, files: files, logger: logger, clock: SystemClock(), metrics: metrics, telemetry: telemetry)
        tell(environment.outbound.proxies, logger)
        return environment
    }

    private static func tell(_ proxies: EgressProxies, _ logger: Logger) {
        for proxy in Set(proxies.all) {
            logger.info("egress_proxy.used", metadata: ["proxy": "\(proxy)", "credentials": "\(proxy.credentials == nil ? "none" : "from a file")"])
            guard proxy.resolvesNames else { continue }
            logger.warning(
                "egress_proxy.resolves_names",
                metadata: [
                    "proxy": "\(proxy)",
                    "meaning":
                        "the proxy looks names up itself: that they lead to no internal server is its check; addresses that editors type are checked here",
                ])
        }
    }

    /// Stored writes stay stored; the supervisor that asked for the stop would kill the program soon.
    private static func endLate(_ name: String, _ limit: Duration, _ logger: Logger) {
        logger.error("program.stop_cut", metadata: ["seconds": "\(limit.components.seconds)"])
        // A log that nobody takes must not keep it.
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 1)
            ProgramEnd.now(1)
        }
        fail(name, StartFailure("has not stopped within \(limit.components.seconds) s, as its settings say it must; it ends now"))
    }

    private static func fail(_ name: String, _ error: any Error) -> Never {
        let failure = (error as? StartFailure) ?? StartFailure("cannot go on: \(error)")
        let lines = failure.lines.enumerated().map { $0 == 0 ? "\(name): \($1)\n" : "\($1)\n" }
        let text = lines.flatMap { JournalSeverity.ofError.marked(Array($0.utf8), .error) }
        // The reason is the last word, behind every line that led to it. Lines of other parts of the program, when they are stopped, are not.
        LogWriter.standard.close()
        StandardStream.error.write(Data(text))
        ProgramEnd.now(failure.exitStatus)
    }
}

/// The end of a program whose threads still run.
public enum ProgramEnd {
    /// Ends the process once what was printed is out. `exit` would first take apart things that the other threads still use (tables of libraries, the
    /// runtime's own). Now and then one of them crashes there, and a back trace stands where one line was promised.
    /// - Parameter status: 0 to 255.
    public static func now(_ status: Int32) -> Never {
        fflush(nil)
        _exit(status)
    }
}

/// Exports traces and metrics until everything else has stopped.
struct TelemetryExport: Service {
    private let pipeline: TelemetryPipeline
    private let transport: OutboundHttp

    /// - Parameters:
    ///   - program: Its name.
    ///   - metrics: The metrics of the program.
    ///   - environment: The environment of the process.
    /// - Returns: `nil` where nothing is exported.
    /// - Throws: `StartFailure` naming a setting or a variable that cannot be used.
    init?(
        _ program: String, _ common: CommonSettings, _ files: SettingsFiles, metrics: PrometheusMetrics, logger: Logger,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(StartFailure) {
        let (options, trustAnchors) = try common.telemetry.resolved(files, environment: environment)
        guard options.isOn else { return nil }
        transport = OutboundHttp(try common.outbound.resolved(files))
        pipeline = TelemetryPipeline(
            options,
            of: OtlpResource(
                program: program, version: SoftwareVersion.current, facts: Self.facts(common), instance: UUID().uuidString.lowercased(),
                options: options),
            trustAnchors: trustAnchors, over: transport, logger: logger,
            now: { UInt64(max(0, Date().timeIntervalSince1970) * 1_000_000) * 1000 }
        ) {
            (metrics.series() + ProcessMetrics.series()).sorted { $0.name < $1.name }
        }
        pipeline.start()
        logger.info(
            "telemetry.exporting", metadata: ["traces": "\(options.tracesURL ?? "")", "metrics": "\(options.metricsURL ?? "")"])
    }

    private static func facts(_ common: CommonSettings) -> [String: String] {
        var facts = ["process.pid": "\(ProcessInfo.processInfo.processIdentifier)", "boxoffice.data_center": common.dataCenter]
        facts["cloud.availability_zone"] = common.zone
        return facts
    }

    func run() async throws {
        await withDiscardingTaskGroup { group in
            group.addTask { await pipeline.run() }
            try? await gracefulShutdown()
            group.cancelAll()
        }
        Tracing.stop()
        await pipeline.finish()
        await transport.shutdown()
    }
}
