internal import Spans

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
