import Foundation
import Testing

@testable import Telemetry

@Suite("OTLP as JSON")
struct OtlpTests {
    @Test("a span: ids in hexadecimal digits, times as texts of nanoseconds, enumerations as numbers")
    func span() throws {
        let object = try Samples.object(
            OtlpTraces.request([Samples.span(0x0012), Samples.span(2, error: "unavailable", parent: nil)], of: Samples.resource))
        let at = "resourceSpans.0.scopeSpans.0.spans."
        #expect(object.text(at + "0.traceId") == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(object.text(at + "0.spanId") == "0000000000000012" && object.text(at + "0.parentSpanId") == "00000000000000ab")
        #expect(object.at(at + "0.traceState") == nil && object.at(at + "0.kind") as? Int == 2 && object.at(at + "0.flags") as? Int == 1)
        #expect(object.text(at + "0.startTimeUnixNano") == "1930384800123456789" && object.text(at + "0.endTimeUnixNano") == "1930384800223456789")
        #expect(object.at(at + "0.status") as? NSDictionary == [:] && object.at(at + "1.parentSpanId") == nil)
        #expect(object.at(at + "1.status") as? NSDictionary == ["code": 2, "message": "unavailable"])
        #expect(object.text("resourceSpans.0.scopeSpans.0.scope.name") == "boxoffice")
    }

    @Test("attributes keep their kinds, and any text comes through")
    func attributes() throws {
        let object = try Samples.object(OtlpTraces.request([Samples.span(error: "503")], of: Samples.resource))
        let list = try #require(object.at("resourceSpans.0.scopeSpans.0.spans.0.attributes") as? [NSDictionary])
        let values = Dictionary(uniqueKeysWithValues: list.map { ($0["key"] as? String ?? "", $0["value"] as? NSDictionary ?? [:]) })
        #expect(values["http.route"] == ["stringValue": "/api/{code}"] && values["http.response.status_code"] == ["intValue": "200"])
        #expect(values["ok"] == ["boolValue": true] && values["odd"] == ["stringValue": "\"\\\u{1}\u{7f}é\n"])
        #expect(values["empty"] == ["stringValue": ""] && values["error.type"] == ["stringValue": "503"])
    }

    @Test("the resource: the program unless another name is set, and what is set besides")
    func resource() throws {
        var options = TelemetryOptions()
        options.resource = ["deployment.environment.name": "test", "service.version": "9"]
        options.serviceName = "edge"
        let resource = OtlpResource(program: "gateway", version: "1.2", facts: ["process.pid": "7"], instance: "i-1", options: options)
        let list = try #require(try Samples.object(OtlpTraces.request([], of: resource)).at("resourceSpans.0.resource.attributes") as? [NSDictionary])
        let values = Dictionary(
            uniqueKeysWithValues: list.map { ($0["key"] as? String ?? "", ($0["value"] as? NSDictionary)?["stringValue"] as? String) })
        #expect(values["service.name"] == "edge" && values["service.namespace"] == "boxoffice" && values["service.instance.id"] == "i-1")
        #expect(values["service.version"] == "9" && values["deployment.environment.name"] == "test" && values["process.pid"] == "7")
    }

    @Test("metrics: cumulative sums, gauges and histograms with unit and description; series of one metric together")
    func metrics() throws {
        let labels = ["ok", "unavailable"].map { [MetricSeries.Label("code", $0)] }
        let series = [
            MetricSeries("boxoffice_calls_total", help: "Calls.", labels: labels[0], .count(7)),
            MetricSeries("boxoffice_calls_total", help: "Calls.", labels: labels[1], .count(2)),
            MetricSeries("boxoffice_process_cpu_seconds_total", .sum(1.5)), MetricSeries("boxoffice_storage_bytes", .gauge(.nan)),
            MetricSeries("boxoffice_took_seconds", .histogram(bounds: [0.5, 1], counts: [1, 0, 2], sum: 9.25)),
        ]
        let object = try Samples.object(OtlpMetrics(resource: Samples.resource, start: 5).request(series, time: 9_007_199_254_740_993))
        let at = "resourceMetrics.0.scopeMetrics.0.metrics."
        #expect((object.at("resourceMetrics.0.scopeMetrics.0.metrics") as? [Any])?.count == 4)
        #expect(
            object.text(at + "0.name") == "boxoffice_calls_total" && object.text(at + "0.description") == "Calls."
                && object.text(at + "0.unit") == "1")
        #expect(object.at(at + "0.sum.isMonotonic") as? Bool == true && object.at(at + "0.sum.aggregationTemporality") as? Int == 2)
        let point: NSDictionary = [
            "attributes": [["key": "code", "value": ["stringValue": "unavailable"]]], "startTimeUnixNano": "5", "timeUnixNano": "9007199254740993",
            "asInt": "2",
        ]
        #expect(object.at(at + "0.sum.dataPoints.1") as? NSDictionary == point)
        #expect(object.text(at + "1.unit") == "s" && object.at(at + "1.sum.dataPoints.0.asDouble") as? Double == 1.5)
        #expect(object.text(at + "2.unit") == "By" && object.text(at + "2.gauge.dataPoints.0.asDouble") == "NaN")
        #expect(object.at(at + "2.gauge.dataPoints.0.startTimeUnixNano") == nil)
        let histogram = at + "3.histogram.dataPoints.0."
        #expect(object.text(histogram + "count") == "3" && object.at(histogram + "sum") as? Double == 9.25)
        #expect(
            object.at(histogram + "bucketCounts") as? [String] == ["1", "0", "2"] && object.at(histogram + "explicitBounds") as? [Double] == [0.5, 1])
        #expect(object.at(at + "3.histogram.aggregationTemporality") as? Int == 2)
    }
}
