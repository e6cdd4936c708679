public import ContractRuntime
public import Synchronization

/// States whether this program records spans, and where they go. Off until `start`; then what makes spans asks one flag and goes on.
public enum Tracing {
    @usableFromInline static let flag = Atomic<Bool>(false)
    private static let recorder = Mutex<(any SpanRecorder)?>(nil)

    @inlinable @inline(__always)
    public static var isOn: Bool { flag.load(ordering: .relaxed) }

    /// Spans of recorded traces go to the recorder from now on. `TraceSampling` says which those are.
    public static func start(_ recorder: any SpanRecorder) {
        self.recorder.withLock { $0 = recorder }
        flag.store(true, ordering: .releasing)
    }

    /// No further spans.
    public static func stop() {
        flag.store(false, ordering: .releasing)
        recorder.withLock { $0 = nil }
    }

    static var current: (any SpanRecorder)? { recorder.withLock { $0 } }
}

extension Span {
    /// A call that came from elsewhere, or a trace that begins here.
    /// - Parameters:
    ///   - context: The span's own place in the trace.
    ///   - parent: Id of the caller's span; `nil`: there is none.
    /// - Returns: `nil` where nothing is recorded.
    @inlinable @inline(__always)
    public static func serving(
        _ context: TraceContext, parent: UInt64?, _ name: @autoclosure () -> String, _ attributes: @autoclosure () -> [SpanAttribute]
    ) -> Span? {
        guard Tracing.isOn, context.isSampled else { return nil }
        return recorded(name(), .server, context, parent: parent, attributes())
    }

    /// A call to elsewhere whose trace is known; a part of the task's span where that is of the same trace.
    /// - Parameter context: As it would go out without a span.
    /// - Returns: `nil` where nothing is recorded.
    @inlinable @inline(__always)
    public static func calling(
        _ context: TraceContext, _ name: @autoclosure () -> String, _ attributes: @autoclosure () -> [SpanAttribute]
    ) -> Span? {
        guard Tracing.isOn, context.isSampled else { return nil }
        return recorded(name(), .client, in: context, attributes())
    }

    /// A part of the task's span.
    /// - Returns: `nil` where the task has none, or goes on after the call that began it.
    @inlinable @inline(__always)
    public static func part(
        _ kind: SpanKind, _ name: @autoclosure () -> String, _ attributes: @autoclosure () -> [SpanAttribute]
    ) -> Span? {
        guard Tracing.isOn, let whole = current, whole.isOpen else { return nil }
        return recorded(name(), kind, whole.context.child(), parent: whole.context.span, attributes())
    }

    @usableFromInline @inline(never)
    static func recorded(
        _ name: String, _ kind: SpanKind, _ context: TraceContext, parent: UInt64?, _ attributes: [SpanAttribute]
    ) -> Span? {
        guard let recorder = Tracing.current else { return nil }
        return Span(name, kind, context, parent: parent, attributes: attributes, recorder: recorder)
    }

    @usableFromInline @inline(never)
    static func recorded(_ name: String, _ kind: SpanKind, in context: TraceContext, _ attributes: [SpanAttribute]) -> Span? {
        let whole = current.flatMap { $0.context.isSameTrace(as: context) ? $0.context.span : nil }
        return recorded(name, kind, context.child(), parent: whole, attributes)
    }
}
