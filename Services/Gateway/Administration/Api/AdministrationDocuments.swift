internal import Contracts
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore
internal import StrictJson

/// JSON of what the config service tells administrators.
enum AdministrationDocuments {
    static func entity(_ entity: CatalogueEntity, warnings: [FieldProblem]? = nil) -> [Document.Member] {
        var members: [Document.Member] = [.init("id", .text(entity.id)), .init("entity", .json(entity.json))]
        if !entity.effectiveJson.isEmpty { members.append(.init("effective", .json(entity.effectiveJson))) }
        if let warnings { members.append(.init("warnings", .list(warnings.map(problem), item: "warning"))) }
        return members
    }

    /// - Parameter state: How it is now; `nil`: entries of its kind have none.
    static func listed(_ entity: CatalogueEntity, state: Document.Value? = nil) -> Document.Value {
        let members: [Document.Member] = [
            .init("id", .text(entity.id)), .init("etag", .text(entity.etag)), .init("changed", .flag(entity.isChanged)),
            .init("entity", .json(entity.json)),
        ]
        return .object(members + (state.map { [.init("state", $0)] } ?? []))
    }

    static func problem(_ problem: FieldProblem) -> Document.Value {
        let confirmable = problem.confirmableCertificate.isEmpty ? [] : [Document.Member("confirmExpired", .text(problem.confirmableCertificate))]
        return .object([.init("field", .text(problem.field)), .init("message", .text(problem.message))] + confirmable)
    }

    static func reference(_ reference: EntityReference) -> Document.Value {
        .object([.init("type", .text(reference.kind.word)), .init("id", .text(reference.id))])
    }

    static func change(_ change: CatalogueChange) -> Document.Value {
        .object([
            .init("number", .number(Int64(change.number))), .init("type", .text(change.kind.word)), .init("id", .text(change.entityID)),
            .init("property", .text(change.property)), .init("operation", .text(operation(change.operation))),
            .init("old", .json(change.oldJson)), .init("new", .json(change.newJson)),
        ])
    }

    static func draft(_ draft: CatalogueDraft) -> Document {
        Document(
            "draft",
            [
                .init("baseVersion", .number(draft.baseVersion)), .init("changes", .list(draft.changes.map(change), item: "change")),
                .init("etag", .optional(draft.etag)),
            ])
    }

    static func push(_ push: PendingPush) -> Document.Value {
        .object([
            .init("id", .text(push.id)), .init("author", .text(push.author)), .init("description", .text(push.description)),
            .init("createdAt", .number(push.createdAtMilliseconds)), .init("baseVersion", .number(push.baseVersion)),
            .init("changes", .list(push.changes.map(change), item: "change")),
        ])
    }

    static func version(_ version: CatalogueVersion) -> [Document.Member] {
        [
            .init("version", .number(version.version)), .init("status", .text(status(version.status))),
            .init("createdAt", .number(version.createdAtMilliseconds)), .init("author", .text(version.author)),
            .init("approver", .optional(version.approver)), .init("description", .text(version.description)),
            .init("origin", .text(version.origin == .file ? "file" : "push")), .init("current", .flag(version.isCurrent)),
            .init("documentSha256", .text(version.documentSha256)), .init("previousSha256", .text(version.previousSha256)),
            .init("recordSha256", .text(version.recordSha256)),
        ]
    }

    /// One page of a list.
    static func page(_ name: String, _ items: [Document.Value], total: UInt32, page: UInt32, size: UInt32) -> Document {
        Document(
            "page",
            [
                .init(name, .list(items, item: "item")), .init("total", .number(Int64(total))), .init("page", .number(Int64(page))),
                .init("size", .number(Int64(size))),
            ])
    }

    private static func operation(_ operation: ChangeOperation) -> String {
        switch operation {
        case .add: "add"
        case .replace: "replace"
        case .remove: "remove"
        case .unknown, .unrecognized: "unknown"
        }
    }

    private static func status(_ status: VersionStatus) -> String {
        switch status {
        case .success: "success"
        case .pending, .unrecognized: "pending"
        case .failed: "failed"
        }
    }
}

/// Reads the JSON that administrators send.
enum AdministrationBody {
    /// The text as it was sent: the config service reads it.
    /// - Throws: 415, or 400 when it is no text.
    static func text(_ exchange: Exchange) throws(AdministrationError) -> String {
        guard Exchange.mediaType(exchange.headers) == "application/json" else { throw .unsupportedMediaType }
        guard let text = String(validating: exchange.body.readableBytesView, as: UTF8.self), !text.utf8.contains(0) else {
            throw .badRequest("The body is not UTF-8 text")
        }
        return text
    }

    /// - Parameter body: Reads the members; one that it does not ask for is refused.
    /// - Throws: 415; 400 when it is no JSON; 422 naming each member that does not fit.
    static func object<Value>(_ exchange: Exchange, _ body: (JsonObject) -> Value) throws(AdministrationError) -> Value {
        let text = try text(exchange)
        let document: JsonDocument
        do { document = try JsonDocument(parsing: Array(text.utf8)) } catch { throw .badRequest("The body is not JSON: \(error)") }
        let problems = JsonProblems(of: document)
        let value = problems.root.object(body)
        guard problems.list.isEmpty, let value else {
            throw .invalid(problems.list.map { FieldProblem(field: $0.path.description, message: $0.message) })
        }
        return value
    }
}

extension JsonObject {
    /// A text that must be there.
    func text(_ name: String) -> String { required(name).map(Self.text) ?? "" }

    /// - Returns: An empty text when it is absent.
    func optionalText(_ name: String) -> String { optional(name).map(Self.text) ?? "" }

    func texts(_ name: String) -> [String] { optional(name)?.array { Self.text($0) } ?? [] }

    /// Milliseconds since 1970.
    func instant(_ name: String) -> UInt64 { UInt64(required(name)?.integer(in: 1...253_402_300_799_999) ?? 0) }

    /// - Returns: 0 when it is absent.
    func optionalInstant(_ name: String) -> UInt64 { UInt64(optional(name)?.integer(in: 1...253_402_300_799_999) ?? 0) }

    /// The services carry no text with a NUL.
    private static func text(_ value: JsonValue) -> String {
        let text = value.string() ?? ""
        guard text.utf8.contains(0) else { return text }
        value.problem("must not hold a NUL")
        return ""
    }
}
