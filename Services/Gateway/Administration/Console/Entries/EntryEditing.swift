internal import CatalogueFiles
internal import Contracts
internal import Faults
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
        if overtaken {
            content["overtaken"] = ["groups": FormContent.facts(EntryForm(entry.groups, of: entry.tree))]
        }
        return await console.page("edit", "Edit \(entry.name)", in: collection.place, content, for: visitor, exchange, status: status)
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
            "json", "Edit \(entry.name) as JSON", in: collection.place, content, for: visitor, exchange,
            status: refusal.map { AdministrationError($0).status } ?? .ok)
    }

    private func common(_ entry: ConsoleEntry) -> [String: Any] {
        [
            "noun": collection.noun, "entryName": entry.name, "entryAddress": collection.address(of: entry.id),
            "placeName": collection.place.name, "placeAddress": collection.place.address, "etag": entry.entity.etag,
        ]
    }
}
