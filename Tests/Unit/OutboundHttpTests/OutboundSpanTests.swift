import ContractRuntime
import OtlpReceiver
import OutboundHttp
import SpanRecordings
import Spans
import Testing

@Suite("Spans of calls to others")
struct OutboundSpanTests {
    private let trace = SpanRecordings.trace()
    private let route = OutboundRoute(peer: "test", connectTimeout: .seconds(10), responseTimeout: .seconds(10), connections: 1)

    @Test("tell who was asked and what came back, and nothing of path, query or headers; the other side gets no trace")
    func call() async throws {
        let receiver = OtlpReceiver()
        try await receiver.start()
        let transport = OutboundHttp()
        let span = try #require(Span.serving(trace, parent: nil, "x", []))
        let dead = try await Span.$current.withValue(span) {
            receiver.answers(.init(404))
            let request = OutboundRequest(
                .post, receiver.address + "/people/ada?token=secret", headers: [("Authorization", "Bearer secret")], body: [1])
            _ = try await transport.send(request, by: route, timeLeft: .seconds(20))
            do throws(OutboundFailure) {
                _ = try await transport.send(OutboundRequest(.get, "http://127.0.0.1:1/"), by: route, timeLeft: .seconds(20))
                return nil as OutboundFailure.Kind?
            } catch { return error.kind }
        }
        await transport.shutdown()
        #expect(receiver.requests.map { $0.headers["traceparent"] } == [nil])
        await receiver.stop()
        let spans = SpanRecordings.shared.of(trace)
        #expect(spans.map(\.name) == ["POST", "GET"] && spans.allSatisfy { $0.kind == .client && $0.parent == trace.span })
        #expect(spans[0]["http.response.status_code"] == 404 && spans[0].error == "404" && spans[0]["server.address"] == "127.0.0.1")
        #expect(spans[1].error == dead?.rawValue && spans[1]["server.port"] == 1)
        #expect(!"\(spans)".contains("secret") && !"\(spans)".contains("ada"))
    }
}
