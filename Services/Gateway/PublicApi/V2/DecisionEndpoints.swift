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

/// `/api/v2/{serviceProvider}/profiles` and logout (rest-v2 §2.6 to §2.8, §2.11).
struct ProfileEndpoints: Sendable {
    let dependencies: Dependencies
    let reader: AppCallReader

    @Sendable func list(_ exchange: Exchange) async throws -> Response {
        let call = try await reader.device(exchange) { _ throws(Fault) in }.call
        return try await reply(FindProfilesRequest(call: call), exchange)
    }

    @Sendable func show(_ exchange: Exchange) async throws -> Response {
        let (call, mvpd) = try await reader.device(exchange) { exchange throws(Fault) in try V2Fields.mvpd(exchange) }
        return try await reply(FindProfilesRequest(call: call, mvpd: mvpd, identity: V2Fields.identity(exchange)), exchange)
    }

    @Sendable func showByCode(_ exchange: Exchange) async throws -> Response {
        let (token, requestor, code) = try await reader.client(exchange) { exchange throws(Fault) in try V2Fields.code(exchange) }
        let device = exchange.headers[values: .apDeviceIdentifier].isEmpty ? "" : (try? DeviceIdentifier.sent(exchange)) ?? ""
        let request = SessionByCodeRequest(accessToken: token, requestor: requestor, code: code, deviceID: device, api: .v2)
        return reply(try await dependencies.authentication.findProfilesByCode(request, context: exchange.call), exchange)
    }

    private func reply(_ request: FindProfilesRequest, _ exchange: Exchange) async throws -> Response {
        reply(try await dependencies.authentication.findProfiles(request, context: exchange.call), exchange)
    }

    private func reply(_ profiles: Profiles, _ exchange: Exchange) -> Response {
        Response(ProfileDocument(facts: exchange.facts).document(profiles), format: .json)
    }

    // MARK: Logout

    @Sendable func logout(_ exchange: Exchange) async throws -> Response {
        let (call, sent) = try await reader.device(exchange) { exchange throws(Fault) in
            (mvpd: try V2Fields.mvpd(exchange), redirectURL: try V2Fields.field("redirectUrl", exchange))
        }
        let ended = try await dependencies.authentication.endProfile(
            EndProfileRequest(call: call, mvpd: sent.mvpd, redirectURL: sent.redirectURL), context: exchange.changingCall)
        let (name, type) = Self.action(ended.end)
        var members: [Document.Member] = [
            .init("actionName", .text(name)), .init("actionType", .text(type)), .init("mvpd", .text(sent.mvpd)),
        ]
        if ended.end == .visit { members.append(.init("url", .text(ended.visitURL))) }
        return Response(Document("logouts", [.init("logouts", .object([.init(sent.mvpd, .object(members))]))]), format: .json)
    }

    private static func action(_ end: ProfileEnd) -> (name: String, type: String) {
        switch end {
        case .visit: ("logout", "interactive")
        case .platform: ("partner_logout", "partner_interactive")
        case .complete: ("complete", "none")
        case .none, .unrecognized: ("invalid", "none")
        }
    }
}

/// The profiles of a device at MVPDs, by their ids (rest-v2 §4).
struct ProfileDocument {
    let facts: RequestFacts

    func document(_ profiles: Profiles) -> Document {
        let shown = profiles.profiles.compactMap { profile in
            profile.session.map { Document.Member($0.mvpd, .object(members(profile, $0))) }
        }
        return Document("profiles", [.init("profiles", .object(shown))])
    }

    private func members(_ profile: Profile, _ session: Session) -> [Document.Member] {
        [
            .init("notBefore", .number(session.createdAtMilliseconds)), .init("notAfter", .number(session.expiresAtMilliseconds)),
            .init("issuer", .text(Self.issuer(session))), .init("type", .text(Self.type(session.kind))),
            .init("attributes", .object(attributes(profile.metadata ?? UserMetadata(), session))),
        ]
    }

    private static func type(_ kind: SessionKind) -> String {
        switch kind {
        case .regular, .automatic, .unrecognized: "regular"
        case .platform: "appleSSO"
        case .shared: "platformSSO"
        case .serviceToken: "serviceTokenSSO"
        case .tempPass: "temporary"
        case .degraded: "degraded"
        }
    }

    private static func issuer(_ session: Session) -> String {
        switch session.kind {
        case .tempPass, .degraded: "Adobe"
        case .platform: "Apple"
        case .regular, .automatic, .shared, .serviceToken, .unrecognized: session.mvpd
        }
    }

    /// The user's id is always there, a text whatever the MVPD sent (clients §4.11). An attribute that nobody could encrypt says so in its place
    /// (clients §4.12).
    private func attributes(_ metadata: UserMetadata, _ session: Session) -> [Document.Member] {
        let encrypted = Set(metadata.encrypted.map { OctetText($0) })
        var members = metadata.data.compactMap { entry -> Document.Member? in
            guard let value = entry.value else { return nil }
            let state = encrypted.contains(OctetText(entry.key)) ? "enc" : "plain"
            return .init(entry.key, .object([.init("value", Self.value(value, of: entry.key)), .init("state", .text(state))]))
        }
        if !members.contains(where: { $0.name == "userID" }), !metadata.unsealed.contains("userID") {
            members.insert(.init("userID", .object([.init("value", .text(session.userID)), .init("state", .text("plain"))])), at: 0)
        }
        let row = V2Errors.row(for: .init(rawValue: "invalid_configuration_user_metadata_certificate"))
        members += metadata.unsealed.map { key in
            let error = V2Face.document(row, message: "There is no certificate that the attribute could be encrypted to.", facts)
            return .init(key, .object([.init("state", .text("enc")), .init("error", .object(error.members))]))
        }
        return members
    }

    private static func value(_ value: MetadataEntry.Value, of key: String) -> Document.Value {
        if key == "userID", case .number(let number) = value { return .text(String(number)) }
        return MetadataEndpoint.value(value)
    }
}
