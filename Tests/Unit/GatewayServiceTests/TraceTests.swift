import ContractRuntime
import Contracts
import Faults
import HTTPTypes
import SpanRecordings
import Spans
import Testing

@testable import GatewayEdge

@Suite("Traces of requests")
struct TraceTests {
    private let gateway = TestGateway()
    private let trace = SpanRecordings.trace()
    private var sent: HTTPFields { TestGateway.device.with(.traceparent, trace.traceparent) }
    private let uri = "/api/v1/checkauthn?\(TestGateway.deviceQuery)"

    @Test("the caller's trace names the request: in Adobe-Request-Id, in what services are called with, and in its span")
    func oneID() async throws {
        let reply = try await gateway.get(uri, sent)
        #expect(reply.headers[.requestID]?.replacing("-", with: "") == trace.traceID && reply.headers[.requestID]?.count == 36)
        let context = try #require(gateway.authentication.getSession.contexts.first)
        let span = try #require(SpanRecordings.shared.of(trace).first)
        #expect(context.trace.traceID == trace.traceID && context.trace.spanID == span.context.spanID)
        #expect(span.parent == trace.span && span.kind == .server && span.name == "GET /api/v1/checkauthn" && span.error == nil)
        #expect(span["http.request.method"] == "GET" && span["http.route"] == "/api/v1/checkauthn" && span["http.response.status_code"] == 200)
        #expect(!"\(span)".contains("dev-7f3a"), "nothing that a client has sent")
    }

    @Test("without a caller's trace the new one names the request")
    func newID() async throws {
        let reply = try await gateway.get(uri)
        let context = try #require(gateway.authentication.getSession.contexts.first)
        #expect(reply.headers[.requestID]?.replacing("-", with: "") == context.trace.traceID)
    }

    @Test("requests of one trace are several changes")
    func severalChanges() async throws {
        for _ in 0..<2 { _ = try await gateway.send(.delete, "/api/v1/logout?\(TestGateway.deviceQuery)", sent) }
        let keys = gateway.authentication.logout.contexts.compactMap(\.idempotencyKey)
        #expect(keys.count == 2 && Set(keys).count == 2)
    }

    @Test("questions for the gateway's health have no span", arguments: ["/healthz", "/readyz"])
    func health(_ path: String) async throws {
        _ = try await gateway.get(path, sent)
        #expect(SpanRecordings.shared.of(trace).isEmpty)
    }

    @Test("an unrecorded trace stays unrecorded, and has no span")
    func unrecorded() async throws {
        let quiet = trace.with(flags: 0)
        _ = try await gateway.get(uri, TestGateway.device.with(.traceparent, quiet.traceparent))
        #expect(gateway.authentication.getSession.contexts.first?.trace.isSampled == false)
        #expect(SpanRecordings.shared.of(trace).isEmpty)
    }

    @Test(
        "a fault is told by its code, an error is one only from 500 on",
        arguments: [(Fault.Code.unavailable, "unavailable" as String?), (.authenticationSessionMissing, nil)])
    func faults(_ code: Fault.Code, error: String?) async throws {
        gateway.authentication.getSession.answer { _, _ in throw Fault(code, "ada") }
        let reply = try await gateway.get(uri, sent)
        let span = try #require(SpanRecordings.shared.of(trace).first)
        #expect((reply.status >= 500) == (error != nil) && span.error == error && span["boxoffice.fault"] == .text(code.rawValue))
        #expect(!"\(span)".contains("ada"))
    }

    @Test("an address that is not served has no route, and its path is not told")
    func noRoute() async throws {
        _ = try await gateway.get("/ada/secret", sent)
        let span = try #require(SpanRecordings.shared.of(trace).first)
        #expect(span.name == "GET" && span["http.route"] == nil && span["http.response.status_code"] == 404 && !"\(span)".contains("ada"))
    }
}
