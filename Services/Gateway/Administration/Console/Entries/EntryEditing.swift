internal import CatalogueFiles
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// Changes an entry in the draft: by fields, or as JSON (dashboard §4).
struct EntryEditing: Sendable {
    let console: Console
    let collection: ConsoleCollection

    private var pages: EntryPages { EntryPages(console: console, collection: collection) }

    @Sendable func edit(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let entry = try await pages.entry(exchange, visitor)
        return await form(EntryForm(entry.groups, of: entry.tree), entry, visitor, exchange)
    }

    @Sendable func save(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let entry = try await pages.entry(exchange, visitor)
        var typed = try EntryForm(entry.groups, typed: exchange)
        let wanted = typed.applied(to: entry.tree)
        guard typed.problems.isEmpty else { return await form(typed, entry, visitor, exchange, status: .unprocessableContent) }
        guard let refusal = try await replace(entry, wanted, exchange, visitor) else { return saved(entry) }
        if refusal.reason == .preconditionFailed {
            // The same form once more, as after the browser's back button, changes nothing.
            if wanted == entry.tree { return saved(entry) }
            return await form(typed, entry, visitor, exchange, overtaken: true, status: .conflict)
        }
        typed.tell(refusal.problems)
        if refusal.problems.isEmpty { typed.otherProblems.append(refusal.message) }
        return await form(typed, entry, visitor, exchange, status: AdministrationError(refusal).status)
    }

    @Sendable func editJson(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let entry = try await pages.entry(exchange, visitor)
        return await json(PrettyJson.text(entry.tree), entry, visitor, exchange)
    }

    @Sendable func saveJson(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let entry = try await pages.entry(exchange, visitor)
        let typed = try exchange.value("json") ?? ""
        let request = ReplaceEntityRequest(
            token: visitor.secret, kind: collection.kind, id: entry.id, json: typed, ifMatch: try exchange.value("etag") ?? "",
            confirmedCertificates: try exchange.all("confirmExpired"))
        switch try await console.administration.replaceEntity(request, context: exchange.changingCall).outcome {
        case .changed: return saved(entry)
        case .refusal(let refusal): return await json(typed, entry, visitor, exchange, refusal: refusal)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
    }

    /// - Returns: `nil`: the draft has it.
    private func replace(_ entry: ConsoleEntry, _ tree: JsonTree, _ exchange: Exchange, _ visitor: Visitor) async throws -> Refusal? {
        let request = ReplaceEntityRequest(
            token: visitor.secret, kind: collection.kind, id: entry.id, json: tree.canonical, ifMatch: try exchange.value("etag") ?? "")
        switch try await console.administration.replaceEntity(request, context: exchange.changingCall).outcome {
        case .changed: return nil
        case .refusal(let refusal): return refusal
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
    }

    private func saved(_ entry: ConsoleEntry) -> Response { Console.seeOther(collection.address(of: entry.id, query: ["saved": "1"])) }

    /// - Parameter overtaken: Somebody has changed the entry since the form was shown.
    private func form(
        _ form: EntryForm, _ entry: ConsoleEntry, _ visitor: Visitor, _ exchange: Exchange, overtaken: Bool = false,
        status: HTTPResponse.Status = .ok
    ) async -> Response {
        var content = common(entry)
        content.merge(FormContent(form).content) { _, own in own }
        content["formAddress"] = collection.address(of: entry.id, "edit")
        let ids = form.groups.flatMap(\.fields).compactMap(\.ids)
        content.merge(await IdChoices(console: console).content(ids, isDrafted: true, for: visitor, exchange)) { own, _ in own }
        if overtaken {
            content["overtaken"] = ["groups": FormContent.facts(EntryForm(entry.groups, of: entry.tree))]
        }
        return await console.page(
            "edit", "Edit \(entry.name)", window: "Edit \(entry.fullName)", in: collection.place, content, for: visitor, exchange, status: status)
    }

    private func json(
        _ text: String, _ entry: ConsoleEntry, _ visitor: Visitor, _ exchange: Exchange, refusal: Refusal? = nil
    ) async -> Response {
        var content = common(entry)
        content["formAddress"] = collection.address(of: entry.id, "json")
        content["json"] = text
        if let refusal {
            content["refused"] = RefusalContent(refusal).content
            if refusal.reason == .preconditionFailed { content["overtaken"] = ["currentJson": PrettyJson.text(entry.tree)] }
        }
        return await console.page(
            "json", "Edit \(entry.name) as JSON", window: "Edit \(entry.fullName) as JSON", in: collection.place, content, for: visitor, exchange,
            status: refusal.map { AdministrationError($0).status } ?? .ok)
    }

    private func common(_ entry: ConsoleEntry) -> [String: Any] {
        [
            "noun": collection.noun, "entryName": entry.name, "entryAddress": collection.address(of: entry.id),
            "placeName": collection.place.name, "placeAddress": collection.place.address, "etag": entry.entity.etag,
        ]
    }
}

/// JSON for people: indented, members in the order of their names.
enum PrettyJson {
    static func text(_ tree: JsonTree) -> String {
        var text = ""
        write(tree, depth: 0, into: &text)
        return text
    }

    private static func write(_ tree: JsonTree, depth: Int, into text: inout String) {
        let inner = String(repeating: "  ", count: depth + 1)
        let outer = String(repeating: "  ", count: depth)
        switch tree {
        case .object(let members) where !members.isEmpty:
            text += "{\n"
            let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (index, member) in sorted.enumerated() {
                text += inner + JsonTree.string(member.key).canonical + ": "
                write(member.value, depth: depth + 1, into: &text)
                text += index < sorted.count - 1 ? ",\n" : "\n"
            }
            text += outer + "}"
        case .array(let elements) where !elements.isEmpty:
            text += "[\n"
            for (index, element) in elements.enumerated() {
                text += inner
                write(element, depth: depth + 1, into: &text)
                text += index < elements.count - 1 ? ",\n" : "\n"
            }
            text += outer + "]"
        default: text += tree.canonical
        }
    }
}

/// A change was not made for this reason, as the templates want it.
struct RefusalContent {
    let content: [String: Any]

    init(_ refusal: Refusal) {
        var content: [String: Any] = [
            "refusedText": refusal.message,
            "refusedProblems": refusal.problems.map { problem in problem.field.isEmpty ? problem.message : "\(problem.field): \(problem.message)" },
            "references": refusal.references.map { reference -> [String: Any] in
                let collection = ConsoleCollection.of(reference.kind)
                var link: [String: Any] = ["referenceText": "\(reference.kind.word) \(reference.id)"]
                if let collection { link["referenceAddress"] = collection.address(of: reference.id) }
                return link
            },
        ]
        content["confirmables"] = Self.confirmables(refusal.problems)
        if !refusal.conflicts.isEmpty { content["conflicts"] = ["changes": ChangeRows(refusal.conflicts).rows] }
        self.content = content
    }

    /// The certificates that may be taken nevertheless, for the form that was refused.
    static func confirmables(_ problems: [FieldProblem]) -> [[String: String]] {
        problems.filter { !$0.confirmableCertificate.isEmpty }.map {
            ["confirmableSha256": $0.confirmableCertificate, "confirmableField": $0.field]
        }
    }
}

/// Adds an entry to the draft (dashboard #4).
struct EntryCreation: Sendable {
    let console: Console
    let collection: ConsoleCollection

    /// Not below the collection's own: there it could be an entry's.
    var path: String { Console.address("new", collection.rawValue) }

    private var isJson: Bool { collection.beginsAsJson }

    private var groups: [FormGroup] {
        [FormGroup(title: "Which", fields: FormGroups.identity(collection))] + FormGroups.groups(collection)
    }

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        var form = EntryForm(groups, of: collection.beginning)
        form.preset("requestor", try exchange.value("requestor") ?? "")
        form.preset("mvpd", try exchange.value("mvpd") ?? "")
        return await page(form, PrettyJson.text(collection.beginning), visitor, exchange)
    }

    @Sendable func create(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        var form = try EntryForm(groups, typed: exchange)
        let tree = form.applied(to: collection.beginning)
        let json = isJson ? try exchange.value("json") ?? "" : tree.canonical
        guard isJson || form.problems.isEmpty else { return await page(form, json, visitor, exchange, status: .unprocessableContent) }
        let request = CreateEntityRequest(
            token: visitor.secret, kind: collection.kind, json: json, confirmedCertificates: try exchange.all("confirmExpired"))
        switch try await console.administration.createEntity(request, context: exchange.changingCall).outcome {
        case .changed(let changed):
            return Console.seeOther(collection.address(of: changed.entity?.id ?? "", query: ["saved": "1"]))
        case .refusal(let refusal):
            form.tell(refusal.problems)
            if refusal.problems.isEmpty { form.otherProblems.append(refusal.message) }
            return await page(
                form, json, visitor, exchange, confirmables: RefusalContent.confirmables(refusal.problems),
                status: AdministrationError(refusal).status)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
    }

    private func page(
        _ form: EntryForm, _ json: String, _ visitor: Visitor, _ exchange: Exchange, confirmables: [[String: String]] = [],
        status: HTTPResponse.Status = .ok
    ) async -> Response {
        var content = FormContent(form).content
        content["confirmables"] = confirmables
        content.merge([
            "formAddress": path, "noun": collection.noun, "placeName": collection.place.name,
            "placeAddress": collection.place.address,
        ]) { own, _ in own }
        if isJson {
            content["groups"] = nil
            content["asJson"] = ["json": json]
        } else {
            let ids = form.groups.flatMap(\.fields).compactMap(\.ids)
            content.merge(await IdChoices(console: console).content(ids, isDrafted: true, for: visitor, exchange)) { own, _ in own }
        }
        return await console.page(
            "create", "Add \(collection.article) \(collection.noun)", in: collection.place, content, for: visitor, exchange, status: status)
    }
}

extension ConsoleCollection {
    fileprivate var article: String { [.channels, .programmers].contains(self) ? "a" : "an" }

    /// The tree from which a new entry begins.
    fileprivate var beginning: JsonTree {
        switch self {
        case .channels: .object(["domains": .array([])])
        case .mvpds:
            JsonTree.reading(
                #"{"id":"","displayName":"","authzTtl":86400,"saml":{"idpEntityId":"","ssoUrl":"","requestBinding":"redirect","#
                    + #""signingCertificates":[]},"authorization":{"protocol":"none"}}"#)
        case .integrations, .programmers: .object([:])
        case .upstreams:
            JsonTree.reading(
                #"{"id":"","baseUrl":"https://","clients":[{"id":"tv","statementReference":"","requestors":"all","platforms":"all"}]}"#)
        case .applications: .object(["platforms": .string("all"), "requestors": .array([]), "scopes": .array([])])
        }
    }
}
