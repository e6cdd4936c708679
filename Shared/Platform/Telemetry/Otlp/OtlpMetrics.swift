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
