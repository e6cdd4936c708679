import ContractRuntime
import Faults
import Foundation
import SpanRecordings
import Spans
import Storage
import StorageSqlite
import Testing

@Suite("Spans")
struct SpanTests {
    private let trace = SpanRecordings.trace()
    private var spans: [FinishedSpan] { SpanRecordings.shared.of(trace) }

    @Test("where a trace is not recorded, nothing is made, and not even a name is put together")
    func unsampled() {
        let quiet = trace.with(flags: 0)
        func never() -> String {
            Issue.record("a name was made")
            return ""
        }
        #expect(Span.serving(quiet, parent: nil, never(), []) == nil)
        #expect(Span.calling(quiet, never(), []) == nil)
        #expect(Span.part(.internal, never(), []) == nil)
        #expect(spans.isEmpty)
    }

    @Test("a call, what it calls and its parts are one tree")
    func tree() throws {
        let server = try #require(Span.serving(trace, parent: 7, "GET", [SpanAttribute("a", 1)]))
        Span.$current.withValue(server) {
            let client = Span.calling(trace, "service/Method", [])
            #expect(client?.context.isSampled == true && client?.context.span != trace.span)
            client?.end()
            Span.part(.client, "POST", [])?.end()
        }
        server.rename("GET /api/{code}")
        server.set("b", "two")
        server.end()
        let (client, part, whole) = (spans[0], spans[1], spans[2])
        #expect(whole.name == "GET /api/{code}" && whole.kind == .server && whole.parent == 7 && whole.context.span == trace.span)
        #expect(whole["a"] == .integer(1) && whole["b"] == .text("two"))
        #expect(client.parent == trace.span && part.parent == trace.span)
        #expect(Set(spans.map(\.context.span)).count == 3)
        #expect(whole.start <= client.start && client.end <= whole.end && whole.start > 1_700_000_000_000_000_000)
    }

    @Test("a span ends once, and its first error counts")
    func endsOnce() throws {
        let span = try #require(Span.serving(trace, parent: nil, "x", []))
        span.fail("unavailable")
        span.fail("503")
        span.end()
        span.set("late", "yes")
        span.end()
        #expect(spans.count == 1 && spans[0].error == "unavailable" && spans[0]["late"] == nil)
    }

    @Test("work that goes on after its call has no parts in it")
    func outlives() throws {
        let span = try #require(Span.serving(trace, parent: nil, "x", []))
        Span.$current.withValue(span) {
            span.end()
            #expect(Span.part(.internal, "late", []) == nil)
        }
    }

    @Test("a call of another trace is no part of the task's span")
    func otherTrace() throws {
        let span = try #require(Span.serving(trace, parent: nil, "x", []))
        let other = SpanRecordings.trace()
        Span.$current.withValue(span) { Span.calling(other, "background", [])?.end() }
        #expect(SpanRecordings.shared.of(other).map(\.parent) == [nil])
    }

    @Test("a fault is an error to who called; to who was called only where the program could not do its work")
    func faults() throws {
        for (code, isServer, error) in [
            (Fault.Code.accessDenied, false, "access_denied"), (.accessDenied, true, nil), (.unavailable, true, "unavailable"),
            (.internal, true, "internal"), (.cancelled, true, nil),
        ] {
            let span = try #require(Span.serving(trace.child(), parent: nil, "x", []))
            span.answer(code, isServer: isServer)
            span.end()
            #expect(spans.last?.error == error && spans.last?["rpc.response.status_code"] == .text(code.rawValue))
        }
    }

    @Test("reads and writes of a file are parts of what does them; their statements are not told, as nobody knows them")
    func store() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("spans-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let migration = Migration("one", sql: "CREATE TABLE thing (name TEXT PRIMARY KEY) STRICT")
        let store = try Store(file: folder.path + "/store.sqlite", name: "shop", migrations: [migration])
        let span = try #require(Span.serving(trace, parent: nil, "x", []))
        try await Span.$current.withValue(span) {
            _ = try await store.change("INSERT INTO thing (name) VALUES (?)", ["secret"])
            let found: String? = try await store.value("SELECT name FROM thing")
            #expect(found == "secret")
            await #expect(throws: Fault.self) { try await store.read { _ in throw Fault(.accessDenied, "no") } }
            await #expect(throws: Fault.self) { try await store.read { try $0.run("SELECT nonsense FROM nowhere") } }
        }
        _ = try await store.read { _ in 1 }
        await store.close()
        #expect(spans.map(\.name) == ["write shop", "read shop", "read shop", "read shop"])
        #expect(spans.map(\.error) == [nil, nil, nil, "internal"])
        #expect(
            spans.allSatisfy { $0.kind == .internal && $0.parent == trace.span && $0["db.system.name"] == "sqlite" && $0["db.namespace"] == "shop" })
        #expect(!"\(spans)".contains("secret"))
    }
}
