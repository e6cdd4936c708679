internal import Faults
internal import Spans

extension Store {
    /// The span of statements that only a closure knows.
    /// - Parameter operation: `read` or `write`.
    @inline(__always)
    func span(_ operation: String) -> Span? { Span.part(spanKind, "\(operation) \(metrics.store)", attributes(operation)) }

    /// Texts of statements hold no values.
    @inline(__always)
    func span(_ statement: Statement) -> Span? {
        Span.part(
            spanKind, "\(statement.verb) \(metrics.store)",
            attributes(statement.verb) + [SpanAttribute("db.query.text", .text(String(statement.postgres.prefix(Self.longestText))))])
    }

    @inline(__always)
    func span(_ plan: Plan) -> Span? {
        Span.part(
            spanKind, "\(Self.verb(of: plan)) \(metrics.store)",
            attributes(Self.verb(of: plan)) + [SpanAttribute("db.operation.batch.size", .integer(Int64(plan.steps.count)))])
    }

    private static var longestText: Int { 1000 }

    /// A file is a part of the program, a server is not.
    private var spanKind: SpanKind { hasLanes ? .client : .internal }

    private func attributes(_ operation: String) -> [SpanAttribute] {
        [
            SpanAttribute("db.system.name", .text(engine.system)), SpanAttribute("db.namespace", .text(metrics.store)),
            SpanAttribute("db.operation.name", .text(operation)),
        ] + (engine.address.map { [SpanAttribute("server.address", .text($0))] } ?? [])
    }

    private static func verb(of plan: Plan) -> String {
        let verbs = Set(plan.steps.map(\.statement.verb))
        return verbs.count == 1 ? verbs.first ?? "write" : "write"
    }
}

extension Statement {
    /// `SELECT`, `INSERT`, …
    fileprivate var verb: String { String(postgres.prefix { $0.isLetter }).uppercased() }
}

extension Span {
    func end<Value>(_ result: Result<Value, Fault>) {
        if case .failure(let fault) = result { end(fault) } else { end() }
    }
}
