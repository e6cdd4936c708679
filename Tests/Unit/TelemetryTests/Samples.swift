import ContractRuntime
import Foundation
import Spans
@testable import Telemetry

enum Samples {
    static let resource = OtlpResource(program: "gateway", version: "1.2", instance: "i-1", options: TelemetryOptions())

    static func span(_ number: UInt64 = 1, name: String = "GET /api/{code}", error: String? = nil, parent: UInt64? = 0xab) -> FinishedSpan {
        FinishedSpan(
            context: TraceContext(traceHigh: 0x4bf9_2f35_77b3_4da6, traceLow: 0xa3ce_929d_0e0e_4736, span: number, flags: 1, state: "a=b"),
            parent: parent, kind: .server, name: name, start: 1_930_384_800_123_456_789, end: 1_930_384_800_223_456_789,
            attributes: [
                SpanAttribute("http.route", "/api/{code}"), SpanAttribute("http.response.status_code", 200), SpanAttribute("ok", .flag(true)),
                SpanAttribute("odd", .text("\"\\\u{1}\u{7f}é\n")), SpanAttribute("empty", ""),
            ], error: error)
    }

    static func object(_ bytes: [UInt8]) throws -> NSDictionary {
        try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary ?? [:]
    }
}

extension NSDictionary {
    /// `resourceSpans.0.scopeSpans.0.spans.1.name`.
    func at(_ path: String) -> Any? {
        path.split(separator: ".").reduce(self as Any?) { value, step in
            if let list = value as? [Any], let index = Int(step) { return index < list.count ? list[index] : nil }
            return (value as? NSDictionary)?[String(step)]
        }
    }

    func text(_ path: String) -> String? { at(path) as? String }
}
