internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import StrictJson

/// Pushes that wait for a second person (dashboard §4).
struct PushEndpoints: Sendable {
    static let path = "\(EntityCollection.base)/pushes"

    let administration: any Administration
    let operations: any AuthenticationOperations

    @Sendable func list(_ exchange: Exchange) async throws -> Response {
        let request = ListPendingPushesRequest(token: try exchange.administrator())
        let pending = try await administration.listPendingPushes(request, context: exchange.call)
        return Response(Document("pushes", [.init("pushes", .list(pending.pushes.map(AdministrationDocuments.push), item: "push"))]), format: .json)
    }

    @Sendable func approve(_ exchange: Exchange) async throws -> Response { try await decide(exchange, approve: true) }

    @Sendable func decline(_ exchange: Exchange) async throws -> Response { try await decide(exchange, approve: false) }

    private func decide(_ exchange: Exchange, approve: Bool) async throws -> Response {
        let (token, push) = (try exchange.administrator(), try exchange.captured("push"))
        let secrets = approve ? await SecretInventory.asked(of: operations, for: exchange) : nil
        let request = DecidePushRequest(token: token, id: push, approve: approve, secrets: secrets)
        return try Self.reply(try await administration.decidePush(request, context: exchange.changingCall))
    }

    static func reply(_ outcome: PushOutcome) throws -> Response {
        switch outcome.outcome {
        case .version(let version):
            var response = Response(Document("version", AdministrationDocuments.version(version)), format: .json, status: .accepted)
            response.headers[.location] = VersionEndpoints.address(of: version.version)
            return response
        case .pending(let push):
            var response = waiting(push, "waiting", status: .accepted)
            response.headers[.location] = path
            return response
        case .declined(let push): return waiting(push, "declined", status: .ok)
        case .refusal(let refusal): throw AdministrationError(refusal)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
    }

    private static func waiting(_ push: PendingPush, _ status: String, status code: HTTPResponse.Status) -> Response {
        Response(
            Document("push", [.init("version", .null), .init("status", .text(status)), .init("push", AdministrationDocuments.push(push))]),
            format: .json, status: code)
    }
}

/// The versions of the catalogue that were pushed (dashboard §4).
struct VersionEndpoints: Sendable {
    private static let path = "\(EntityCollection.base)/versions"

    let administration: any Administration

    static func address(of version: UInt64) -> String { "\(path)/\(version)" }

    @Sendable func list(_ exchange: Exchange) async throws -> Response {
        let request = ListVersionsRequest(token: try exchange.administrator(), page: try exchange.page())
        let page = try await administration.listVersions(request, context: exchange.call)
        let items = page.versions.map { Document.Value.object(AdministrationDocuments.version($0)) }
        return Response(
            AdministrationDocuments.page("versions", items, total: page.total, page: page.page, size: page.size), format: .json)
    }

    @Sendable func show(_ exchange: Exchange) async throws -> Response {
        let request = GetVersionRequest(token: try exchange.administrator(), version: try exchange.number("version"))
        let snapshot = try await administration.getVersion(request, context: exchange.call)
        let members = AdministrationDocuments.version(snapshot.version ?? CatalogueVersion())
        return Response(Document("version", members + [.init("document", .json(snapshot.documentJson))]), format: .json)
    }

    @Sendable func compare(_ exchange: Exchange) async throws -> Response {
        let request = CompareVersionsRequest(
            token: try exchange.administrator(), oldVersion: try exchange.version("a"), newVersion: try exchange.version("b"))
        let comparison = try await administration.compareVersions(request, context: exchange.call)
        return Response(
            Document(
                "comparison",
                [
                    .init("a", .number(comparison.oldVersion)), .init("b", .number(comparison.newVersion)),
                    .init("changes", .list(comparison.changes.map(AdministrationDocuments.change), item: "change")),
                ]), format: .json)
    }

    @Sendable func restore(_ exchange: Exchange) async throws -> Response {
        let request = RestoreVersionRequest(token: try exchange.administrator(), version: try exchange.number("version"))
        return DraftEndpoints.reply(try DraftEndpoints.draft(try await administration.restoreVersion(request, context: exchange.changingCall)))
    }
}

/// An administrator's changes that are not pushed (dashboard §4).
struct DraftEndpoints: Sendable {
    let administration: any Administration
    let operations: any AuthenticationOperations

    @Sendable func show(_ exchange: Exchange) async throws -> Response {
        let draft = try await administration.getDraft(GetDraftRequest(token: try exchange.administrator()), context: exchange.call)
        if !draft.etag.isEmpty, EntityTag(draft.etag).isNamed(in: exchange.headers[.ifNoneMatch]) { return .notModified(EntityTag(draft.etag)) }
        return Self.reply(draft)
    }

    @Sendable func discard(_ exchange: Exchange) async throws -> Response {
        _ = try await administration.discardDraft(DiscardDraftRequest(token: try exchange.administrator()), context: exchange.changingCall)
        return .empty(.noContent)
    }

    @Sendable func drop(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        guard let number = UInt32(exactly: try exchange.number("change")) else { throw AdministrationError.notFound("There is no such change.") }
        let request = DropChangeRequest(token: token, number: number, ifMatch: try exchange.ifMatch())
        return Self.reply(try Self.draft(try await administration.dropChange(request, context: exchange.changingCall)))
    }

    @Sendable func push(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let description = try AdministrationBody.object(exchange) { $0.text("description") }
        let ifMatch = try exchange.ifMatch()
        let request = PushDraftRequest(
            token: token, description: description, ifMatch: ifMatch, secrets: await .asked(of: operations, for: exchange))
        return try PushEndpoints.reply(try await administration.pushDraft(request, context: exchange.changingCall))
    }

    /// The differences to another cluster's catalogue.
    @Sendable func promote(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let (catalogue, kept) = try AdministrationBody.object(exchange) { body in
            let kept = body.texts("keep")
            if kept.contains(where: { !["endpoints", "others"].contains($0) }) {
                body.optional("keep")?.problem("must hold 'endpoints' or 'others'")
            }
            return (body.required("catalogue")?.text ?? "", kept)
        }
        let request = PromoteCatalogueRequest(
            token: token, catalogue: catalogue, keepEndpoints: kept.contains("endpoints"), keepOthers: kept.contains("others"))
        return Self.reply(try Self.draft(try await administration.promoteCatalogue(request, context: exchange.changingCall)))
    }

    static func reply(_ draft: CatalogueDraft) -> Response {
        Response(AdministrationDocuments.draft(draft), format: .json).with(EntityTag(draft.etag))
    }

    static func draft(_ outcome: DraftOutcome) throws -> CatalogueDraft {
        switch outcome.outcome {
        case .draft(let draft): return draft
        case .refusal(let refusal): throw AdministrationError(refusal)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
    }
}

/// Rules that take effect without a push while an MVPD is in trouble (dashboard §4).
struct DegradationEndpoints: Sendable {
    static let path = "\(EntityCollection.base)/degradation"
    private static let kinds: KeyValuePairs<String, DegradationKind> = ["AuthNAll": .authnAll, "AuthZAll": .authzAll, "AuthZNone": .authzNone]
    private static let platforms: KeyValuePairs<String, Platform> = [
        "ios": .ios, "tvos": .tvos, "roku": .roku, "fireTv": .fireTv, "android": .android, "desktop": .desktop, "otherMobile": .otherMobile,
        "otherTv": .otherTv,
    ]

    let administration: any Administration

    @Sendable func list(_ exchange: Exchange) async throws -> Response {
        let request = ListDegradationRulesRequest(token: try exchange.administrator())
        return Self.reply(try await administration.listDegradationRules(request, context: exchange.call))
    }

    @Sendable func start(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        var request = try AdministrationBody.object(exchange, Self.rule)
        request.token = token
        var response = Self.reply(
            try Self.rules(try await administration.startDegradation(request, context: exchange.changingCall)), status: .created)
        response.headers[.location] = Self.path
        return response
    }

    @Sendable func renew(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let end = try AdministrationBody.object(exchange) { $0.instant("endsAt") }
        let request = RenewDegradationRequest(token: token, id: try exchange.captured("rule"), endsAtMilliseconds: end)
        return Self.reply(try Self.rules(try await administration.renewDegradation(request, context: exchange.changingCall)))
    }

    @Sendable func end(_ exchange: Exchange) async throws -> Response {
        let request = EndDegradationRequest(token: try exchange.administrator(), id: try exchange.captured("rule"))
        _ = try await administration.endDegradation(request, context: exchange.changingCall)
        return .empty(.noContent)
    }

    private static func rule(_ object: JsonObject) -> StartDegradationRequest {
        StartDegradationRequest(
            kind: object.required("kind")?.choice(kinds) ?? .unknown, requestorID: object.text("requestor"),
            mvpdIDs: object.required("mvpds") == nil ? [] : object.texts("mvpds"), resources: object.texts("resources"),
            platforms: object.optional("platforms")?.array { $0.choice(platforms) } ?? [], endsAtMilliseconds: object.instant("endsAt"),
            message: object.optionalText("message"), reason: object.optionalText("reason"))
    }

    private static func rules(_ outcome: DegradationOutcome) throws -> DegradationRules {
        switch outcome.outcome {
        case .started(let rules): return rules
        case .refusal(let refusal): throw AdministrationError(refusal)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
    }

    private static func reply(_ rules: DegradationRules, status: HTTPResponse.Status = .ok) -> Response {
        Response(Document("degradation", [.init("rules", .list(rules.rules.map(document), item: "rule"))]), format: .json, status: status)
    }

    private static func document(_ active: ActiveDegradation) -> Document.Value {
        let rule = active.rule ?? DegradationRule()
        return .object([
            .init("id", .text(rule.id)), .init("kind", .text(kinds.first { $0.value == rule.kind }?.key ?? "unknown")),
            .init("requestor", .text(rule.requestorID)), .init("mvpd", .text(rule.mvpdID)),
            .init("resources", .list(rule.resources.map { .text($0) }, item: "resource")),
            .init(
                "platforms",
                .list(rule.platforms.map { platform in .text(platforms.first { $0.value == platform }?.key ?? "unknown") }, item: "platform")),
            .init("startsAt", .number(rule.startsAtMilliseconds)), .init("endsAt", .number(rule.endsAtMilliseconds)),
            .init("message", .optional(rule.message)), .init("author", .text(active.author)), .init("reason", .optional(active.reason)),
        ])
    }
}
