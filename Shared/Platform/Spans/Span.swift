public import ContractRuntime
internal import Synchronization

/// A piece of work in a trace that is recorded: it begins when it is made, and goes to the recorder when it ends.
///
/// There is none where nothing is recorded, so what asks for one costs a branch then. It never holds what a person or a client has sent: names and attributes
/// are words of programs and settings.
public final class Span: Sendable {
    /// The span that the task works in.
    @TaskLocal public static var current: Span?

    private struct State {
        var name: String
        var attributes: [SpanAttribute]
        var error: String?
        var isOver = false
    }

    /// Its own place in the trace, for what it calls.
    public let context: TraceContext
    /// Id of the span that it is a part of; `nil`: of none.
    private let parent: UInt64?
    private let kind: SpanKind
    private let begun: SpanTime
    private let recorder: any SpanRecorder
    private let state: Mutex<State>

    init(
        _ name: String, _ kind: SpanKind, _ context: TraceContext, parent: UInt64?, attributes: [SpanAttribute], recorder: any SpanRecorder
    ) {
        self.context = context
        self.parent = parent
        self.kind = kind
        self.recorder = recorder
        begun = .now()
        state = Mutex(State(name: name, attributes: attributes))
    }

    /// States whether it has not ended.
    @usableFromInline var isOpen: Bool { state.withLock { !$0.isOver } }

    /// For what is known only later; of low cardinality.
    public func rename(_ name: String) { state.withLock { $0.name = name } }

    public func set(_ key: String, _ value: SpanValue) { state.withLock { $0.attributes.append(SpanAttribute(key, value)) } }

    /// It has failed; the first reason counts.
    /// - Parameter code: Why, as a code: a text could hold what a person has sent.
    public func fail(_ code: String) { state.withLock { if $0.error == nil { $0.error = code } } }

    /// Ends it; what comes later counts for nothing.
    public func end() {
        let ended = state.withLock { state -> State? in
            guard !state.isOver else { return nil }
            state.isOver = true
            return state
        }
        guard let ended else { return }
        recorder.take(
            FinishedSpan(
                context: context, parent: parent, kind: kind, name: ended.name, start: begun.unixNanoseconds, end: begun.endingNow(),
                attributes: ended.attributes, error: ended.error))
    }
}
