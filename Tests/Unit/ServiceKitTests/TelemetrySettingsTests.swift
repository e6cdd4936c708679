import Foundation
import Telemetry
import Testing

@testable import ServiceKit

@Suite("Settings of telemetry")
struct TelemetrySettingsTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    /// - Parameter telemetry: The object in the settings file; `nil`: none.
    private func resolved(_ telemetry: String?, _ environment: [String: String] = [:]) throws -> (TelemetryOptions, trustAnchors: [[UInt8]]) {
        let object = telemetry.map { ", \"telemetry\": \($0)" } ?? ""
        try folder.write("{\"debug\": {\"address\": \"127.0.0.1\", \"port\": 0}\(object)}", to: "config.json")
        let file = folder.path + "/config.json"
        let common = try SettingsReader.read(NoSettings.self, section: "alpha", file: file).common
        return try common.telemetry.resolved(SettingsFiles(settingsFile: file), environment: environment)
    }

    @Test("a settings file from before exports nothing")
    func off() throws {
        #expect(try resolved(nil).0 == TelemetryOptions())
        #expect(try !resolved("{}").0.isOn)
    }

    @Test("all of it, with headers from their file")
    func all() throws {
        try folder.makePki([])
        try folder.write("api-key: s3cret:1\n\nX-Team:  tv\n", to: "headers")
        let (options, anchors) = try resolved(
            """
            {"endpoint": "https://collector:4318", "metricsEndpoint": "https://metrics/x", "headersFile": "headers", "trustAnchors": "ca.crt",
             "timeoutMilliseconds": 500, "serviceName": "edge", "resourceAttributes": {"deployment.environment.name": "test"},
             "sampler": "parentbased_traceidratio", "samplerArgument": 0.5, "metricIntervalMilliseconds": 1000, "queueSpans": 64,
             "batchDelayMilliseconds": 20}
            """)
        #expect(options.tracesURL == "https://collector:4318/v1/traces" && options.metricsURL == "https://metrics/x" && anchors.count == 1)
        #expect(options.headers == [.init("api-key", "s3cret:1"), .init("X-Team", "tv")] && options.timeout == .milliseconds(500))
        #expect(options.sampler == Sampler(ratio: 0.5, obeysCallers: true) && options.queueSpans == 64 && options.batchSpans == 64)
        #expect(options.serviceName == "edge" && options.resource["deployment.environment.name"] == "test")
    }

    @Test("variables take precedence, and a bad one ends the start with its name")
    func variables() throws {
        let environment = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://there:4318", "OTEL_SERVICE_NAME": "theirs"]
        let options = try resolved(#"{"endpoint": "http://here:4318", "serviceName": "mine"}"#, environment).0
        #expect(options.tracesURL == "http://there:4318/v1/traces" && options.serviceName == "theirs")
        let failure = try #require(throws: StartFailure.self) { try resolved(nil, ["OTEL_BSP_SCHEDULE_DELAY": "never"]) }
        #expect(failure.description == "the variable OTEL_BSP_SCHEDULE_DELAY must be a whole number of milliseconds from 1 to 3600000; it is 'never'")
    }

    @Test(
        "a bad value names its key",
        arguments: [
            (#"{"endpoint": "collector"}"#, "telemetry.endpoint must be an http or https URL"),
            (#"{"sampler": "some"}"#, "telemetry.sampler must be one of always_on"),
            (#"{"samplerArgument": 2}"#, "telemetry.samplerArgument must be from 0 to 1"),
            (#"{"queueSpans": 0}"#, "telemetry.queueSpans must be from 1 to 1000000; it is 0"), (#"{"endPoint": ""}"#, "endPoint"),
            (#"{"batchSpans": 4096}"#, "telemetry.batchSpans must be from 1 to 2048; it is 4096"),
            (#"{"headersFile": "absent"}"#, "telemetry.headersFile names the file"),
            (#"{"endpoint": "http://c", "trustAnchors": "absent"}"#, "telemetry.trustAnchors"),
        ])
    func bad(_ telemetry: String, text: String) throws {
        let failure = try #require(throws: StartFailure.self) { try resolved(telemetry) }
        #expect(failure.description.contains(text), "\(failure)")
    }

    @Test("a file of headers that has something else is refused, without a word of what it has")
    func badHeaders() throws {
        try folder.write("s3cret", to: "headers")
        let failure = try #require(throws: StartFailure.self) { try resolved(#"{"headersFile": "headers"}"#) }
        #expect(failure.description.contains("'Name: value'") && !failure.description.contains("s3cret"))
    }

    @Test("the registry's series are those of /metrics")
    func series() {
        let metrics = PrometheusMetrics()
        metrics.makeCounter(label: "boxoffice_rpc_server_calls_total", dimensions: [("b", "2\""), ("a", "1")]).increment(by: 3)
        metrics.makeTimer(label: "took_seconds", dimensions: []).recordNanoseconds(2_000_000_000)
        metrics.makeMeter(label: "open", dimensions: []).increment(by: 2)
        let series = metrics.series()
        #expect(series.map(\.name) == ["boxoffice_metrics_dropped_total", "boxoffice_rpc_server_calls_total", "open", "took_seconds"])
        #expect(series[1].labels == [.init("a", "1"), .init("b", "2\"")] && series[1].value == .count(3) && series[1].help.hasPrefix("Calls from"))
        #expect(series[2].value == .gauge(2))
        guard case .histogram(let bounds, let counts, let sum) = series[3].value else { return #expect(Bool(false)) }
        #expect(counts.count == bounds.count + 1 && counts.reduce(0, +) == 1 && sum == 2)
        #expect(ProcessMetrics.series().map(\.name).contains("boxoffice_process_resident_bytes"))
    }
}
