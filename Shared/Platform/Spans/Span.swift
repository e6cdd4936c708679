#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
public import ContractRuntime
public import Faults
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

extension Span {
    /// A call has ended with a fault. To the caller that is an error. To the callee it is one only where the program could not do its work, and not
    /// where the answer is a no.
    public func answer(_ code: Fault.Code, isServer: Bool = false) {
        set("rpc.response.status_code", .text(code.rawValue))
        if !isServer || code.isTrouble { fail(code.rawValue) }
    }

    /// Work has ended with a fault: an error where the program could not do it.
    public func end(_ fault: Fault) {
        if fault.code.isTrouble { fail(fault.code.rawValue) }
        end()
    }
}

extension Fault.Code {
    /// True when somebody should look after a program that says so. Other codes answer what was asked: no session, no permission, a wrong value.
    fileprivate var isTrouble: Bool {
        let own: [Fault.Code] = [.internal, .unavailable, .overloaded, .deadlineExceeded, .storageFull, .unimplemented, .frameTooLarge]
        return own.contains(self)
    }
}

/// A span began at this time: the moment by the clock on the wall, and a length that no change of that clock touches.
struct SpanTime {
    /// Nanoseconds since 1970.
    let unixNanoseconds: UInt64
    private let steady: UInt64

    static func now() -> SpanTime { SpanTime(unixNanoseconds: read(CLOCK_REALTIME), steady: read(CLOCK_MONOTONIC)) }

    /// The same moment's end, in nanoseconds since 1970.
    func endingNow() -> UInt64 {
        let now = Self.read(CLOCK_MONOTONIC)
        return unixNanoseconds + (now > steady ? now - steady : 0)
    }

    private static func read(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// The part of a span among its neighbours.
public enum SpanKind: Sendable {
    /// Work within the program.
    case `internal`
    /// The handling of a call that came from elsewhere.
    case server
    /// A call to elsewhere, with its answer.
    case client
}

public enum SpanValue: Sendable, Hashable {
    case text(String)
    case integer(Int64)
    case flag(Bool)
}

extension SpanValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    public init(stringLiteral value: String) { self = .text(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
}

/// A fact of a span, named by the semantic conventions of OpenTelemetry where they have a name for it.
public struct SpanAttribute: Sendable, Hashable {
    public let key: String
    public let value: SpanValue

    public init(_ key: String, _ value: SpanValue) { (self.key, self.value) = (key, value) }
}

/// A span as it is reported.
public struct FinishedSpan: Sendable, Hashable {
    public let context: TraceContext
    /// Id of the span that it is a part of; `nil`: of none.
    public let parent: UInt64?
    public let kind: SpanKind
    public let name: String
    /// Nanoseconds since 1970.
    public let start: UInt64
    public let end: UInt64
    public let attributes: [SpanAttribute]
    /// It failed for this reason, as a code; `nil`: it did not.
    public let error: String?

    public init(
        context: TraceContext, parent: UInt64?, kind: SpanKind, name: String, start: UInt64, end: UInt64, attributes: [SpanAttribute],
        error: String?
    ) {
        self.context = context
        self.parent = parent
        self.kind = kind
        self.name = name
        self.start = start
        self.end = end
        self.attributes = attributes
        self.error = error
    }

    /// The value of an attribute; `nil`: it has none of that name.
    public subscript(key: String) -> SpanValue? { attributes.last { $0.key == key }?.value }
}

/// Takes spans that have ended, from any thread; must not wait.
public protocol SpanRecorder: Sendable {
    func take(_ span: FinishedSpan)
}
