import ContractRuntime
import Contracts
import Faults
import Rpc
import SpanRecordings
import Spans
import Testing

extension RpcTests {
    @Suite struct RpcSpanTests {
        private let trace = SpanRecordings.trace()
        private var context: CallContext { CallContext(deadline: .now.advanced(by: .seconds(60)), trace: trace) }

        private func spans(_ count: Int) async throws -> (client: [FinishedSpan], server: [FinishedSpan]) {
            let all = try await SpanRecordings.shared.ended(count, of: trace)
            return (all.filter { $0.kind == .client }, all.filter { $0.kind == .server })
        }

        @Test("a call is a span of the caller's and in it one of the callee's, also where it is answered at once")
        func joined() async throws {
            let server = try await TestServer()
            let client = try server.client()
            let whole = try #require(Span.serving(trace, parent: nil, "GET", []))
            try await Span.$current.withValue(whole) {
                _ = try await client.call(TestOperations.note, EchoMessage(), context: context)
                _ = try await DiagnosticsClient(caller: client).echo(EchoMessage(content: [1]), context: context)
            }
            let (made, handled) = try await spans(4)
            #expect(made.map(\.name) == ["boxoffice.test.v1.Test/Note", "boxoffice.platform.v1.Diagnostics/Echo"])
            #expect(made.allSatisfy { $0.parent == trace.span && $0["server.address"] == "server.boxoffice" && $0.error == nil })
            #expect(Set(handled.map(\.parent)) == Set(made.map(\.context.span)), "each is a part of its call")
            let note = try #require(handled.first { $0["rpc.method"] == "Note" })
            #expect(
                note["rpc.system"] == "boxoffice" && note["rpc.service"] == "boxoffice.test.v1.Test"
                    && note["boxoffice.rpc.caller"] == "client.boxoffice")
            let seen = try #require(server.operations.current.contexts.first)
            #expect(seen.trace.isSameTrace(as: trace) && seen.trace.span == note.context.span, "what the operation calls is a part of it")
        }

        @Test("a fault is its code, and nothing of its text")
        func faults() async throws {
            let server = try await TestServer()
            let client = try server.client()
            server.operations.throwNext([Fault(.accessDenied, "ada may not"), Fault(.storageFull, "no room")])
            for code in [Fault.Code.accessDenied, .storageFull] {
                let fault = await #expect(throws: Fault.self) { try await client.call(TestOperations.fail, EchoMessage(), context: context) }
                #expect(fault?.code == code)
            }
            let (made, handled) = try await spans(4)
            #expect(Set(made.map(\.error)) == ["access_denied", "storage_full"] && Set(handled.map(\.error)) == [nil, "storage_full"])
            #expect(Set(handled.map { $0["rpc.response.status_code"] }) == ["access_denied", "storage_full"])
            #expect(!"\(made)\(handled)".contains("ada"))
        }

        @Test("a call that is given up ends in both")
        func cancelled() async throws {
            let server = try await TestServer()
            let client = try server.client()
            let context = context
            let call = Task { try await client.call(TestOperations.wait, EchoMessage(), context: context) }
            while server.operations.current.begun == 0 { try await Task.sleep(for: .milliseconds(1)) }
            call.cancel()
            _ = await call.result
            let (made, handled) = try await spans(2)
            #expect(made.map(\.error) == ["cancelled"] && handled.map { $0["rpc.response.status_code"] } == ["cancelled"])
        }

        @Test("a call whose callee is nowhere has one span; an unrecorded one, and a stream, have none")
        func withoutCallee() async throws {
            let server = try await TestServer()
            let client = try server.client()
            var quiet = context
            quiet.trace = trace.with(flags: 0)
            _ = try await client.call(TestOperations.note, EchoMessage(), context: quiet)
            for try await _ in try await client.stream(TestOperations.count, EchoMessage(content: [1, 2]), context: context) {}
            #expect(server.operations.current.contexts.map(\.trace) == [quiet.trace])
            #expect(SpanRecordings.shared.of(trace).isEmpty)
            let nowhere = TestServer.client(of: [RpcAddress(host: "127.0.0.1", port: 1)], identity: server.identity)
            await #expect(throws: Fault.self) { try await nowhere.call(TestOperations.note, EchoMessage(), context: context) }
            await nowhere.shutDown()
            let (made, handled) = try await spans(1)
            #expect(made.map(\.error) == ["unavailable"] && handled.isEmpty)
        }
    }
}
