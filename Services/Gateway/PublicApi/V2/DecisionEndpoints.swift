internal import Clocks
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// `/api/v2/{serviceProvider}/decisions` (rest-v2 §2.9, §2.10).
struct DecisionEndpoints: Sendable {
    let dependencies: Dependencies
    let reader: AppCallReader
    /// Media tokens have one measure of how many there is room for.
    let pressure: Backpressure
    var clock: any WallClock = SystemClock()

    @Sendable func authorize(_ exchange: Exchange) async throws -> Response {
        let request = try await request(exchange, isPreliminary: false)
        let decisions = try await pressure.passing(request.call?.requestor ?? "") {
            try await dependencies.authorization.decide(request, context: exchange.changingCall)
        }
        return reply(decisions, request, exchange)
    }

    @Sendable func preauthorize(_ exchange: Exchange) async throws -> Response {
        let request = try await request(exchange, isPreliminary: true)
        return reply(try await dependencies.authorization.decide(request, context: exchange.call), request, exchange)
    }

    private func request(_ exchange: Exchange, isPreliminary: Bool) async throws -> DecideRequest {
        let (call, sent) = try await reader.device(exchange) { exchange throws(Fault) in
            (mvpd: try V2Fields.mvpd(exchange), resources: try V2Fields.resources(exchange))
        }
        return DecideRequest(
            call: call, mvpd: sent.mvpd, resources: sent.resources, identity: V2Fields.identity(exchange), isPreliminary: isPreliminary)
    }

    private func reply(_ answer: Decisions, _ request: DecideRequest, _ exchange: Exchange) -> Response {
        let items = answer.decisions.map { decision in
            Document.Value.object(members(decision, request, exchange.facts))
        }
        return Response(Document("decisions", [.init("decisions", .list(items, item: "decision"))]), format: .json)
    }

    private func members(_ decision: ResourceDecision, _ request: DecideRequest, _ facts: RequestFacts) -> [Document.Member] {
        var members: [Document.Member] = [
            .init("resource", .text(decision.resource)), .init("serviceProvider", .text(request.call?.requestor ?? "")),
            .init("mvpd", .text(request.mvpd)), .init("source", .text(Self.source(decision.source))),
            .init("authorized", .flag(decision.authorized)),
        ]
        if let token = decision.token {
            members += [
                .init(
                    "token",
                    .object([
                        .init("notBefore", .number(token.issuedAtMilliseconds)), .init("notAfter", .number(token.expiresAtMilliseconds)),
                        .init("serializedToken", .text(token.serializedToken)),
                    ])),
                .init("notBefore", .number(token.issuedAtMilliseconds)), .init("notAfter", .number(decision.expiresAtMilliseconds)),
            ]
        }
        if let refusal = decision.refusal { members.append(.init("error", .object(error(refusal, request, facts).members))) }
        return members
    }

    private func error(_ refusal: ResourceRefusal, _ request: DecideRequest, _ facts: RequestFacts) -> Document {
        var code = Fault.Code(rawValue: refusal.code)
        // A plain denial has a name of its own beforehand.
        if request.isPreliminary, code == .authorizationDeniedByMvpd { code = .preauthorizationDeniedByMvpd }
        let row = V2Errors.row(for: code, isItem: true)
        return V2Face.document(
            row, message: V2Errors.itemMessage(row), details: refusal.details.isEmpty ? nil : refusal.details, facts)
    }

    private static func source(_ source: DecisionSource) -> String {
        switch source {
        case .mvpd, .unrecognized: "mvpd"
        case .degradation: "degradation"
        case .tempPass: "temppass"
        case .dummy: "dummy"
        }
    }
}
