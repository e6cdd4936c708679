internal import Foundation
internal import Logging
internal import OutboundHttp
internal import ServiceLifecycle
internal import Spans
internal import Telemetry

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
