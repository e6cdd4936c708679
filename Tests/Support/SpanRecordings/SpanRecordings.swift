public import ContractRuntime
public import Spans
internal import Synchronization

/// Records spans of the tests of this process. They run at the same time: each asks for those of its own trace.
public final class SpanRecordings: SpanRecorder {
    public static let shared: SpanRecordings = {
        let recordings = SpanRecordings()
        Tracing.start(recordings)
        return recordings
    }()

    private let spans = Mutex<[FinishedSpan]>([])

    private init() {}

    public func take(_ span: FinishedSpan) { spans.withLock { $0.append(span) } }

    /// Those that have ended, in the order of their ends.
    public func of(_ trace: TraceContext) -> [FinishedSpan] { spans.withLock { $0.filter { $0.context.isSameTrace(as: trace) } } }

    /// A new trace that is recorded.
    public static func trace() -> TraceContext {
        _ = shared
        return TraceContext.random().with(flags: TraceContext.sampled)
    }

    /// Waits until so many spans of a trace have ended, at most 20 s.
    public func ended(_ count: Int, of trace: TraceContext) async throws -> [FinishedSpan] {
        for _ in 0..<2000 {
            let found = of(trace)
            if found.count >= count { return found }
            try await Task.sleep(for: .milliseconds(10))
        }
        return of(trace)
    }
}
