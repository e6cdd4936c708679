internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// The entries of one collection: changes go to the administrator's draft (dashboard §5).
struct EntityEndpoints: Sendable {
    let administration: any Administration
    let collection: EntityCollection
    /// Of upstreams: how they are now.
    var conditions: UpstreamConditions?

    @Sendable func list(_ exchange: Exchange) async throws -> Response {
        let request = ListEntitiesRequest(
            token: try exchange.administrator(), kind: collection.kind, query: try exchange.value("q") ?? "", page: try exchange.page(),
            requestorID: [.integrations, .applications].contains(collection) ? try exchange.value("requestor") ?? "" : "",
            mvpdID: collection == .integrations ? try exchange.value("mvpd") ?? "" : "",
            changedOnly: try Self.flag("changed", exchange))
        let page = try await administration.listEntities(request, context: exchange.call)
        let states = await conditions?.states("", exchange)
        let items = page.entities.map { entity in
            AdministrationDocuments.listed(entity, state: states.map { $0[OctetText(entity.id)] ?? .null })
        }
        return Response(
            AdministrationDocuments.page("items", items, total: page.total, page: page.page, size: page.size), format: .json)
    }

    @Sendable func show(_ exchange: Exchange) async throws -> Response {
        let request = GetEntityRequest(token: try exchange.administrator(), kind: collection.kind, id: try id(exchange))
        let entity = try await administration.getEntity(request, context: exchange.call)
        if let conditions {
            let state = await conditions.states(entity.id, exchange)[OctetText(entity.id)] ?? .null
            let members = AdministrationDocuments.entity(entity) + [.init("state", state)]
            return Response(Document("entity", members), format: .json).with(EntityTag(entity.etag))
        }
        // What an entry comes to also depends on others, of which its tag knows nothing.
        if entity.effectiveJson.isEmpty, EntityTag(entity.etag).isNamed(in: exchange.headers[.ifNoneMatch]) {
            return .notModified(EntityTag(entity.etag))
        }
        return Response(Document("entity", AdministrationDocuments.entity(entity)), format: .json).with(EntityTag(entity.etag))
    }

    @Sendable func create(_ exchange: Exchange) async throws -> Response {
        let request = CreateEntityRequest(
            token: try exchange.administrator(), kind: collection.kind, json: try AdministrationBody.text(exchange),
            confirmedCertificates: try exchange.all("confirmExpired"))
        let changed = try Self.changed(try await administration.createEntity(request, context: exchange.changingCall))
        var response = Self.reply(changed, status: .created)
        response.headers[.location] = collection.address(of: changed.entity?.id ?? "")
        return response
    }

    @Sendable func replace(_ exchange: Exchange) async throws -> Response {
        let request = ReplaceEntityRequest(
            token: try exchange.administrator(), kind: collection.kind, id: try id(exchange), json: try AdministrationBody.text(exchange),
            ifMatch: try exchange.ifMatch(), confirmedCertificates: try exchange.all("confirmExpired"))
        return Self.reply(try Self.changed(try await administration.replaceEntity(request, context: exchange.changingCall)), status: .ok)
    }

    @Sendable func delete(_ exchange: Exchange) async throws -> Response {
        let request = DeleteEntityRequest(
            token: try exchange.administrator(), kind: collection.kind, id: try id(exchange), ifMatch: try exchange.ifMatch())
        let changed = try Self.changed(try await administration.deleteEntity(request, context: exchange.changingCall))
        guard !changed.warnings.isEmpty else { return .empty(.noContent) }
        let warnings = changed.warnings.map(AdministrationDocuments.problem)
        return Response(Document("deletion", [.init("warnings", .list(warnings, item: "warning"))]), format: .json)
    }

    @Sendable func generateScheme(_ exchange: Exchange) async throws -> Response {
        let request = GenerateCustomSchemeRequest(token: try exchange.administrator(), kind: collection.kind, id: try id(exchange))
        let changed = try Self.changed(try await administration.generateCustomScheme(request, context: exchange.changingCall))
        var response = Response(
            Document("scheme", [.init("customScheme", .text(changed.customScheme))]), format: .json, status: .created)
        response.headers[.location] = collection.address(of: request.id)
        return response.with(EntityTag(changed.entity?.etag ?? ""))
    }

    /// - Throws: 400 for what is neither `true` nor `false`.
    private static func flag(_ name: String, _ exchange: Exchange) throws -> Bool {
        switch try exchange.value(name) {
        case "true": true
        case "false", nil: false
        default: throw AdministrationError.badRequest("Parameter '\(name)' must be true or false", field: name)
        }
    }

    private func id(_ exchange: Exchange) throws(Fault) -> String {
        guard collection == .integrations else {
            let id = try exchange.captured("id")
            return collection.isNamedByIssuer ? EntityCollection.unescape(id) : id
        }
        return "\(try exchange.captured("requestor"))/\(try exchange.captured("mvpd"))"
    }

    static func reply(_ changed: EntityChanged, status: HTTPResponse.Status) -> Response {
        let entity = changed.entity ?? CatalogueEntity()
        let members = AdministrationDocuments.entity(entity, warnings: changed.warnings)
        return Response(Document("entity", members), format: .json, status: status).with(EntityTag(entity.etag))
    }

    static func changed(_ outcome: EntityOutcome) throws -> EntityChanged {
        switch outcome.outcome {
        case .changed(let changed): return changed
        case .refusal(let refusal): throw AdministrationError(refusal)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
    }
}

/// Software statements of registered applications (dashboard §2).
struct ApplicationEndpoints: Sendable {
    let administration: any Administration

    @Sendable func statement(_ exchange: Exchange) async throws -> Response {
        let request = DownloadSoftwareStatementRequest(token: try exchange.administrator(), applicationID: try exchange.captured("id"))
        let statement = try await administration.downloadSoftwareStatement(request, context: exchange.changingCall)
        return Response(text: statement.statement, type: "text/plain; charset=utf-8", cacheControl: "no-store")
    }

    @Sendable func revoke(_ exchange: Exchange) async throws -> Response {
        let request = RevokeSoftwareStatementsRequest(token: try exchange.administrator(), applicationID: try exchange.captured("id"))
        _ = try await administration.revokeSoftwareStatements(request, context: exchange.changingCall)
        return .empty(.noContent)
    }
}
