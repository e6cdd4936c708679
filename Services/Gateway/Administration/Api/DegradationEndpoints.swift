internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import StrictJson

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
