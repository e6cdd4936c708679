internal import Cryptography
internal import Telemetry

/// Where traces and metrics go, beside `/metrics`. The default: nowhere.
public struct TelemetrySettings: Decodable, Sendable, Hashable {
    /// As the settings file says it; the standard variables of OpenTelemetry take precedence.
    let options: TelemetryOptions
    /// One `Name: value` a line, relative to the settings file: a key of a vendor is a secret.
    let headersFile: String?

    private enum CodingKeys: String, CodingKey {
        case endpoint, tracesEndpoint, metricsEndpoint, headersFile, trustAnchors, timeoutMilliseconds, serviceName, resourceAttributes, sampler,
            samplerArgument, metricIntervalMilliseconds, queueSpans, batchDelayMilliseconds, batchSpans
    }

    init() { (options, headersFile) = (TelemetryOptions(), nil) }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func refuse(_ key: CodingKeys, _ text: String) -> DecodingError {
            .dataCorruptedError(forKey: key, in: container, debugDescription: text)
        }
        func bounded(_ key: CodingKeys, _ range: ClosedRange<Int>) throws -> Int? {
            guard let value = try container.decodeIfPresent(Int.self, forKey: key) else { return nil }
            guard range.contains(value) else { throw refuse(key, "must be from \(range.lowerBound) to \(range.upperBound); it is \(value)") }
            return value
        }
        func address(_ key: CodingKeys) throws -> String? {
            guard let text = try container.decodeIfPresent(String.self, forKey: key) else { return nil }
            guard TelemetryOptions.isAddress(text) else { throw refuse(key, "must be \(TelemetryOptions.acceptedAddress)") }
            return text
        }
        var options = TelemetryOptions()
        if let base = try address(.endpoint) { options.export(to: base) }
        options.tracesURL = try address(.tracesEndpoint) ?? options.tracesURL
        options.metricsURL = try address(.metricsEndpoint) ?? options.metricsURL
        options.trustAnchorsFile = try container.decodeIfPresent(String.self, forKey: .trustAnchors)
        options.serviceName = try container.decodeIfPresent(String.self, forKey: .serviceName)
        options.resource = try container.decodeIfPresent([String: String].self, forKey: .resourceAttributes) ?? [:]
        let ratio = try container.decodeIfPresent(Double.self, forKey: .samplerArgument)
        if let ratio, !(0...1).contains(ratio) { throw refuse(.samplerArgument, "must be from 0 to 1; it is \(ratio)") }
        if let name = try container.decodeIfPresent(String.self, forKey: .sampler) {
            guard let sampler = Sampler(name, ratio: ratio ?? 1) else {
                throw refuse(.sampler, "must be one of \(Sampler.names.joined(separator: ", ")); it is '\(name)'")
            }
            options.sampler = sampler
        }
        if let value = try bounded(.timeoutMilliseconds, 1...600_000) { options.timeout = .milliseconds(value) }
        if let value = try bounded(.metricIntervalMilliseconds, 100...86_400_000) { options.metricInterval = .milliseconds(value) }
        if let value = try bounded(.batchDelayMilliseconds, 1...3_600_000) { options.batchDelay = .milliseconds(value) }
        options.queueSpans = try bounded(.queueSpans, 1...1_000_000) ?? options.queueSpans
        options.batchSpans = try bounded(.batchSpans, 1...options.queueSpans) ?? min(options.batchSpans, options.queueSpans)
        self.options = options
        headersFile = try container.decodeIfPresent(String.self, forKey: .headersFile)
    }

    /// The effective options in the end, with the contents of the files.
    /// - Parameter environment: The environment of the process.
    /// - Throws: `StartFailure` naming the variable, or the key and its file.
    func resolved(_ files: SettingsFiles, environment: [String: String]) throws(StartFailure) -> (TelemetryOptions, trustAnchors: [[UInt8]]) {
        var options = options
        options.trustAnchorsFile = options.trustAnchorsFile.map(files.path)
        if let headersFile { options.headers = try headers(headersFile, files) }
        do throws(TelemetryError) {
            try options.apply(environment: environment)
        } catch {
            throw StartFailure("the variable \(error)")
        }
        guard options.isOn, let file = options.trustAnchorsFile else { return (options, []) }
        do throws(CryptographyError) {
            return (options, try Certificate.all(pemFile: file).map(\.der))
        } catch {
            throw files.failure(
                "telemetry.trustAnchors", "(or OTEL_EXPORTER_OTLP_CERTIFICATE) names the file \(file), which holds no certificate: \(error)")
        }
    }

    private func headers(_ file: String, _ files: SettingsFiles) throws(StartFailure) -> [TelemetryOptions.Header] {
        let key = "telemetry.headersFile"
        var headers: [TelemetryOptions.Header] = []
        for line in try files.text(file, key: key).split(whereSeparator: \.isNewline) where !line.allSatisfy(\.isWhitespace) {
            let sides = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = sides.count == 2 ? sides[1].drop { $0 == " " } : ""
            let header = TelemetryOptions.Header(String(sides[0]), String(value))
            guard sides.count == 2, TelemetryOptions.isHeader(header) else {
                throw files.failure(key, "names the file \(files.path(file)), which must have lines of the form 'Name: value'")
            }
            headers.append(header)
        }
        return headers
    }
}
