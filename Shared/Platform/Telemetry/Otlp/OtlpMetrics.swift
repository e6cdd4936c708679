internal import Spans

/// Series as an `ExportMetricsServiceRequest`. All are cumulative: an export that is lost loses nothing.
struct OtlpMetrics {
    let resource: OtlpResource
    /// When counting began, in nanoseconds since 1970.
    let start: UInt64

    /// - Parameters:
    ///   - series: Those of one metric stand together.
    ///   - time: The time of the values, in nanoseconds since 1970.
    func request(_ series: [MetricSeries], time: UInt64) -> [UInt8] {
        var text = OtlpText(reserving: 1024 + series.count * 384)
        text.object { request in
            request.array("resourceMetrics") { list in
                list.object { of in
                    resource.write(to: &of)
                    of.array("scopeMetrics") { list in
                        list.object { of in
                            resource.writeScope(to: &of)
                            of.array("metrics") { write(series, time, to: &$0) }
                        }
                    }
                }
            }
        }
        return text.bytes
    }

    private func write(_ series: [MetricSeries], _ time: UInt64, to list: inout OtlpText) {
        var rest = series[...]
        while let first = rest.first {
            let metric = rest.prefix { $0.name == first.name }
            rest = rest.dropFirst(metric.count)
            list.object { text in
                text.text("name", first.name)
                text.text("description", first.help)
                text.text("unit", first.unit)
                write(metric, like: first.value, time, to: &text)
            }
        }
    }

    private func write(_ metric: ArraySlice<MetricSeries>, like value: MetricSeries.Value, _ time: UInt64, to text: inout OtlpText) {
        func points(_ data: inout OtlpText) {
            data.array("dataPoints") { list in for series in metric { list.object { write(series, time, to: &$0) } } }
        }
        // `AGGREGATION_TEMPORALITY_CUMULATIVE` of metrics.proto.
        let cumulative = 2
        switch value {
        case .count, .sum:
            text.object("sum") { data in
                points(&data)
                data.number("aggregationTemporality", cumulative)
                data.flag("isMonotonic", true)
            }
        case .gauge: text.object("gauge") { points(&$0) }
        case .histogram:
            text.object("histogram") { data in
                points(&data)
                data.number("aggregationTemporality", cumulative)
            }
        }
    }

    private func write(_ series: MetricSeries, _ time: UInt64, to point: inout OtlpText) {
        point.attributes(series.labels.map { SpanAttribute($0.name, .text($0.value)) })
        if case .gauge = series.value {} else { point.long("startTimeUnixNano", start) }
        point.long("timeUnixNano", time)
        switch series.value {
        case .count(let count): point.long("asInt", count)
        case .sum(let value), .gauge(let value): point.double("asDouble", value)
        case .histogram(let bounds, let counts, let sum):
            point.long("count", counts.reduce(0, +))
            point.double("sum", sum)
            point.array("bucketCounts") { list in for count in counts { list.long(nil, count) } }
            point.array("explicitBounds") { list in for bound in bounds { list.double(nil, bound) } }
        }
    }
}

/// Spans as an `ExportTraceServiceRequest`.
enum OtlpTraces {
    static func request(_ spans: [FinishedSpan], of resource: OtlpResource) -> [UInt8] {
        var text = OtlpText(reserving: 1024 + spans.count * 768)
        text.object { request in
            request.array("resourceSpans") { list in
                list.object { of in
                    resource.write(to: &of)
                    of.array("scopeSpans") { list in
                        list.object { of in
                            resource.writeScope(to: &of)
                            of.array("spans") { list in for span in spans { list.object { write(span, to: &$0) } } }
                        }
                    }
                }
            }
        }
        return text.bytes
    }

    private static func write(_ span: FinishedSpan, to text: inout OtlpText) {
        text.id("traceId", span.context.traceHigh, span.context.traceLow)
        text.id("spanId", span.context.span)
        if let parent = span.parent { text.id("parentSpanId", parent) }
        text.number("flags", Int(span.context.flags))
        text.text("name", span.name)
        text.number("kind", number(span.kind))
        text.long("startTimeUnixNano", span.start)
        text.long("endTimeUnixNano", span.end)
        text.attributes(span.attributes + (span.error.map { [SpanAttribute("error.type", .text($0))] } ?? []))
        // Unset where it is well, as the semantic conventions want of all who are no person.
        text.object("status") { status in
            guard let error = span.error else { return }
            status.text("message", error)
            status.number("code", 2)
        }
    }

    /// `SpanKind` of trace.proto.
    private static func number(_ kind: SpanKind) -> Int {
        switch kind {
        case .internal: 1
        case .server: 2
        case .client: 3
        }
    }
}

/// The description of the program with each export.
public struct OtlpResource: Sendable {
    let attributes: [SpanAttribute]
    let version: String

    /// - Parameters:
    ///   - program: Its name, where the options have none.
    ///   - version: The version of the software.
    ///   - facts: Further facts about the program; the options' attributes take precedence.
    ///   - instance: Names this process alone.
    public init(program: String, version: String, facts: [String: String] = [:], instance: String, options: TelemetryOptions) {
        self.version = version
        var all = ["service.namespace": "boxoffice", "service.version": version, "service.instance.id": instance]
        all.merge(["telemetry.sdk.name": "boxoffice", "telemetry.sdk.language": "swift", "telemetry.sdk.version": version]) { $1 }
        all.merge(facts) { $1 }
        all.merge(options.resource) { $1 }
        all["service.name"] = options.serviceName ?? program
        attributes = all.sorted { $0.key < $1.key }.map { SpanAttribute($0.key, .text($0.value)) }
    }

    func write(to text: inout OtlpText) { text.object("resource") { $0.attributes(attributes) } }

    func writeScope(to text: inout OtlpText) {
        text.object("scope") { scope in
            scope.text("name", "boxoffice")
            scope.text("version", version)
        }
    }
}

extension OtlpText {
    mutating func attributes(_ attributes: [SpanAttribute]) {
        guard !attributes.isEmpty else { return }
        array("attributes") { list in
            for attribute in attributes {
                list.object { pair in
                    pair.text("key", attribute.key)
                    pair.object("value") { value in
                        switch attribute.value {
                        case .text(let text): value.string("stringValue", text)
                        case .integer(let number): value.long("intValue", number)
                        case .flag(let flag): value.flag("boolValue", flag)
                        }
                    }
                }
            }
        }
    }
}
