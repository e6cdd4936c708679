internal import CatalogueFiles
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// Adds an entry to the draft (dashboard #4).
struct EntryCreation: Sendable {
    let console: Console
    let collection: ConsoleCollection

    /// Not below the collection's own: there it could be an entry's.
    var path: String { Console.address("new", collection.rawValue) }

    /// MVPDs have too much that must be there for fields: they begin as JSON.
    private var isJson: Bool { collection == .mvpds }

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
        }
        return await console.page(
            "create", "Add \(collection.article) \(collection.noun)", in: collection.place, content, for: visitor, exchange, status: status)
    }
}

extension ConsoleCollection {
    fileprivate var article: String { [.channels, .programmers].contains(self) ? "a" : "an" }

    /// What a new entry is made of.
    fileprivate var beginning: JsonTree {
        switch self {
        case .channels: .object(["domains": .array([])])
        case .mvpds:
            JsonTree.reading(
                #"{"id":"","displayName":"","authzTtl":86400,"saml":{"idpEntityId":"","ssoUrl":"","requestBinding":"redirect","#
                    + #""signingCertificates":[]},"authorization":{"protocol":"none"}}"#)
        case .integrations, .programmers: .object([:])
        case .applications: .object(["platforms": .string("all"), "requestors": .array([]), "scopes": .array([])])
        }
    }
}
