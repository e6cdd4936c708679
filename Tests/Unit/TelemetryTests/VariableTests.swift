import Testing

@testable import Telemetry

@Suite("The standard variables")
struct VariableTests {
    private func options(_ environment: [String: String], _ base: TelemetryOptions = TelemetryOptions()) throws -> TelemetryOptions {
        var options = base
        try options.apply(environment: environment)
        return options
    }

    @Test("without one nothing is exported, and everything has its default")
    func none() throws {
        let options = try options(["PATH": "/bin", "OTEL_EXPORTER_OTLP_ENDPOINT": " "])
        #expect(!options.isOn && options == TelemetryOptions())
        #expect(
            options.queueSpans == 2048 && options.batchSpans == 512 && options.batchDelay == .seconds(5) && options.metricInterval == .seconds(60))
    }

    @Test("one address serves both signals; each may have its own, which is taken as it is")
    func addresses() throws {
        let base = try options(["OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318/otlp"])
        #expect(base.tracesURL == "http://collector:4318/otlp/v1/traces" && base.metricsURL == "http://collector:4318/otlp/v1/metrics")
        let own = try options(["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://traces.example/x", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318/"])
        #expect(own.tracesURL == "https://traces.example/x" && own.metricsURL == "http://c:4318/v1/metrics")
        #expect(try options(["OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://m/"]).tracesURL == nil)
        #expect(try options(["OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_TRACES_EXPORTER": "none"]).tracesURL == nil)
        #expect(try !options(["OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_SDK_DISABLED": "TRUE"]).isOn)
    }

    @Test("variables take precedence over the settings")
    func precedence() throws {
        var base = TelemetryOptions()
        base.export(to: "http://settings:4318")
        base.timeout = .seconds(3)
        base.serviceName = "mine"
        let options = try options(["OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://m/x", "OTEL_SERVICE_NAME": "theirs"], base)
        #expect(options.tracesURL == "http://settings:4318/v1/traces" && options.metricsURL == "http://m/x")
        #expect(options.timeout == .seconds(3) && options.serviceName == "theirs")
        #expect(try !self.options(["OTEL_SDK_DISABLED": "true"], base).isOn)
    }

    @Test("headers, resource, times, sizes")
    func values() throws {
        let options = try options([
            "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b, x-team = tv", "OTEL_EXPORTER_OTLP_TIMEOUT": "250",
            "OTEL_RESOURCE_ATTRIBUTES": "service.name=edge,deployment.environment.name=pre%2Cprod", "OTEL_METRIC_EXPORT_INTERVAL": "1000",
            "OTEL_BSP_MAX_QUEUE_SIZE": "100", "OTEL_BSP_SCHEDULE_DELAY": "50", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "100",
        ])
        #expect(options.headers == [.init("api-key", "a b"), .init("x-team", "tv")] && options.timeout == .milliseconds(250))
        #expect(options.serviceName == "edge" && options.resource == ["deployment.environment.name": "pre,prod"])
        #expect(options.queueSpans == 100 && options.batchSpans == 100 && options.batchDelay == .milliseconds(50))
        #expect(options.metricInterval == .seconds(1))
        #expect(try self.options(["OTEL_BSP_MAX_QUEUE_SIZE": "10"]).batchSpans == 10)
    }

    @Test(
        "samplers by their names",
        arguments: [
            ("always_on", nil, Sampler(ratio: 1, obeysCallers: false)), ("always_off", nil, Sampler(ratio: 0, obeysCallers: false)),
            ("traceidratio", "0.25", Sampler(ratio: 0.25, obeysCallers: false)), ("traceidratio", nil, Sampler(ratio: 1, obeysCallers: false)),
            ("parentbased_always_on", "0.5", Sampler(ratio: 1, obeysCallers: true)),
            ("parentbased_always_off", nil, Sampler(ratio: 0, obeysCallers: true)),
            ("parentbased_traceidratio", "0", Sampler(ratio: 0, obeysCallers: true)),
        ])
    func samplers(name: String, argument: String?, sampler: Sampler) throws {
        var environment = ["OTEL_TRACES_SAMPLER": name]
        environment["OTEL_TRACES_SAMPLER_ARG"] = argument
        #expect(try options(environment).sampler == sampler)
    }

    @Test(
        "a bad value names the variable, what it is and what it may be",
        arguments: [
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon", "a whole number of milliseconds from 1 to 600000; it is 'soon'"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "0", "a whole number of milliseconds from 1 to 600000; it is '0'"),
            ("OTEL_TRACES_SAMPLER", "jaeger_remote", "always_on, always_off, traceidratio, parentbased_always_on"),
            ("OTEL_TRACES_SAMPLER_ARG", "2", "a number from 0 to 1; it is '2'"), ("OTEL_TRACES_SAMPLER_ARG", "nan", "a number from 0 to 1"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "http/json; it is 'grpc'"), ("OTEL_SDK_DISABLED", "1", "true or false; it is '1'"),
            ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4096", "a whole number from 1 to 2048; it is '4096'"),
            ("OTEL_RESOURCE_ATTRIBUTES", "a", "KEY=VALUE pairs"), ("OTEL_RESOURCE_ATTRIBUTES", "a=%ff", "KEY=VALUE pairs"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318", "an http or https URL"),
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "ftp://collector", "an http or https URL"),
            ("OTEL_METRICS_EXPORTER", "prometheus", "otlp, none; it is 'prometheus'"),
        ])
    func badValues(name: String, value: String, text: String) throws {
        let problem = try #require(throws: TelemetryError.self) { try options([name: value]) }
        #expect(problem.description.hasPrefix("\(name) must be \(text)"), "\(problem)")
    }

    @Test(
        "what may be a secret is not repeated",
        arguments: [
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization: s3cret"), ("OTEL_EXPORTER_OTLP_HEADERS", "a b=s3cret"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=s3cret%0Ab"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:s3cret@collector:4318"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318?key=s3cret"),
        ])
    func secrets(name: String, value: String) throws {
        let problem = try #require(throws: TelemetryError.self) { try options([name: value]) }
        #expect(problem.name == name && !problem.description.contains("s3cret"))
    }
}
