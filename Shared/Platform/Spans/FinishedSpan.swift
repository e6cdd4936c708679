public import ContractRuntime

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
    /// Why it failed, as a code; `nil`: it did not.
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
