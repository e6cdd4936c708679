internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// The entries of one collection: changes go to the administrator's draft (dashboard §5).
struct EntityEndpoints: Sendable {
    let administration: any Administration
    let collection: EntityCollection
    /// The present state of upstreams.
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
        // The effective values of an entry also depend on other entries, which its tag does not cover.
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

/// An MVPD's SAML metadata: looked at first, taken over with the fingerprints that a person has confirmed (mvpd §2.7).
extension EntityEndpoints {
    @Sendable func readMetadata(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let mvpd = try exchange.captured("id")
        let (document, address, fingerprints, expired, entry) = try AdministrationBody.object(exchange) { body in
            let address = body.optionalText("address")
            if !address.isEmpty {
                body.optional("fingerprints")?.problem("must not be there beside an address: confirm what was fetched, as metadata")
            }
            return (
                address.isEmpty ? body.text("metadata") : "", address, body.optional("fingerprints") == nil ? nil : body.texts("fingerprints"),
                body.optional("confirmExpired") == nil ? [] : body.texts("confirmExpired"), body.optional("entry")?.text ?? ""
            )
        }
        guard let fingerprints else {
            let review = ReviewProviderMetadataRequest(token: token, mvpdID: mvpd, document: document, address: address)
            let metadata = try await administration.reviewProviderMetadata(review, context: exchange.call)
            return Response(Document("metadata", Self.members(metadata)), format: .json)
        }
        let request = ImportProviderMetadataRequest(
            token: token, mvpdID: mvpd, document: document, fingerprints: fingerprints, entryJson: entry, ifMatch: try exchange.ifMatch(),
            confirmedCertificates: expired)
        let changed = try Self.changed(try await administration.importProviderMetadata(request, context: exchange.changingCall))
        var response = Self.reply(changed, status: request.ifMatch.isEmpty ? .created : .ok)
        if request.ifMatch.isEmpty { response.headers[.location] = collection.address(of: mvpd) }
        return response
    }

    private static func members(_ metadata: ProviderMetadata) -> [Document.Member] {
        [
            .init("entityId", .text(metadata.entityID)), .init("displayName", .optional(metadata.displayName)),
            .init("endpoints", .list(metadata.endpoints.map(endpoint), item: "endpoint")),
            .init("certificates", .list(metadata.certificates.map(certificate), item: "certificate")),
            .init("nameIdFormats", .list(metadata.nameIDFormats.map { .text($0) }, item: "format")),
            .init("wantsSignedRequests", .flag(metadata.wantsSignedRequests)),
            .init("validUntil", metadata.validUntilMilliseconds == 0 ? .null : .number(metadata.validUntilMilliseconds)),
            .init("problems", .list(metadata.problems.map(AdministrationDocuments.problem), item: "problem")),
            .init("warnings", .list(metadata.warnings.map(AdministrationDocuments.problem), item: "warning")),
            .init("document", .optional(metadata.document)), .init("entry", metadata.entryJson.isEmpty ? .null : .json(metadata.entryJson)),
        ]
    }

    private static func endpoint(_ endpoint: ProviderEndpoint) -> Document.Value {
        .object([
            .init("service", .text(endpoint.service)), .init("binding", .text(endpoint.binding)), .init("location", .text(endpoint.location)),
            .init("responseLocation", .optional(endpoint.responseLocation)),
        ])
    }

    private static func certificate(_ certificate: ProviderCertificate) -> Document.Value {
        .object([
            .init("sha256", .text(certificate.sha256)), .init("subject", .text(certificate.subject)),
            .init("notBefore", .number(certificate.notBeforeMilliseconds)), .init("notAfter", .number(certificate.notAfterMilliseconds)),
            .init("signs", .flag(certificate.signs)), .init("problem", .optional(certificate.problem)),
            .init("warning", .optional(certificate.warning)),
        ])
    }
}

/// The list of administrators, and the record of their changes (dashboard §4).
struct HistoryEndpoints: Sendable {
    let administration: any Administration

    @Sendable func administrator(_ exchange: Exchange) async throws -> Response {
        let request = GetAdministratorRequest(token: try exchange.administrator())
        let administrator = try await administration.getAdministrator(request, context: exchange.call)
        return Response(
            Document(
                "administrator",
                [
                    .init("name", .text(administrator.name)), .init("role", .text(administrator.role.word)),
                    .init("programmers", .list(administrator.programmerIDs.map { .text($0) }, item: "programmer")),
                    .init("rights", .list(administrator.rights.map { .text($0) }, item: "right")),
                ]), format: .json)
    }

    @Sendable func audit(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let search = AuditSearch(administration: administration, token: token, filter: try AuditFilter(exchange))
        if try ReportEndpoints.wantsTable(exchange) { return try await AuditTable.response(search, exchange) }
        let asked = try exchange.page()
        guard search.filter.isEmpty else { return try await filtered(search, asked, exchange) }
        let page = try await administration.listAuditRecords(ListAuditRecordsRequest(token: token, page: asked), context: exchange.call)
        return Response(
            AdministrationDocuments.page("records", page.records.map(Self.record), total: page.total, page: page.page, size: page.size),
            format: .json)
    }

    /// The pages of what a filter takes: as many records as a file has, of as many as it looks through.
    private func filtered(_ search: AuditSearch, _ page: PageRequest, _ exchange: Exchange) async throws -> Response {
        let found = try await search.found(wanted: AuditSearch.mostRows, most: AuditSearch.mostForFile, exchange)
        let records = found.records.dropFirst(Int(page.page - 1) * Int(page.size)).prefix(Int(page.size)).map(Self.record)
        let document = AdministrationDocuments.page(
            "records", records, total: UInt32(found.records.count), page: page.page, size: page.size)
        return Response(Document(document.root, document.members + [.init("complete", .flag(found.stoppedAt == nil))]), format: .json)
    }

    @Sendable func verify(_ exchange: Exchange) async throws -> Response {
        let request = VerifyHistoryRequest(token: try exchange.administrator())
        let verdict = try await administration.verifyHistory(request, context: exchange.call)
        return Response(
            Document(
                "verdict",
                [
                    .init("intact", .flag(verdict.isIntact)), .init("problems", .list(verdict.problems.map { .text($0) }, item: "problem")),
                    .init("versions", .number(verdict.versions)), .init("auditRecords", .number(verdict.auditRecords)),
                ]), format: .json)
    }

    private static func record(_ record: AuditRecord) -> Document.Value {
        .object([
            .init("number", .number(record.number)), .init("createdAt", .number(record.createdAtMilliseconds)),
            .init("author", .text(record.author)), .init("action", .text(record.action)), .init("text", .text(record.text)),
            .init("version", record.version == 0 ? .null : .number(record.version)), .init("recordSha256", .text(record.recordSha256)),
        ])
    }
}
