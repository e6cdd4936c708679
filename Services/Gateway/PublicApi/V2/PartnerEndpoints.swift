internal import Contracts
internal import Cryptography
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import StrictJson
internal import TextEncodings

/// `/api/v2/{serviceProvider}/sessions/sso/{partner}` and `…/profiles/sso/{partner}`: sign-in by the platform's login (rest-v2 §2.12, §2.13).
struct PartnerEndpoints: Sendable {
    let dependencies: Dependencies
    let reader: AppCallReader

    @Sendable func begin(_ exchange: Exchange) async throws -> Response {
        let (call, form) = try await reader.device(exchange) { exchange throws(Fault) in
            try Self.requirePartner(exchange)
            return try SessionEndpointsV2.Form(exchange)
        }
        let plan = try await dependencies.liveCodes.plan(for: exchange.facts.clientAddress) {
            try await dependencies.authentication.beginPartnerSignIn(
                BeginSignInRequest(call: call, domainName: form.domainName, redirectURL: form.redirectURL),
                context: exchange.changingCall)
        }
        return Response(SignInPlanDocument(plan: plan, serviceProvider: call.requestor, isResumed: false).document, format: .json)
    }

    @Sendable func exchange(_ exchange: Exchange) async throws -> Response {
        let (call, response) = try await reader.device(exchange) { exchange throws(Fault) in
            try Self.requirePartner(exchange)
            return try exchange.value("SAMLResponse") ?? ""
        }
        let profiles = try await dependencies.authentication.exchangePartnerProfile(
            ExchangePartnerProfileRequest(call: call, samlResponse: response), context: exchange.changingCall)
        let document = ProfileDocument(facts: exchange.facts).document(profiles)
        let isMade = profiles.profiles.contains { $0.session?.kind == .platform }
        return Response(document, format: .json, status: isMade ? .created : .ok)
    }

    /// The only one that there is, in whatever case (rest-v2 D12).
    private static func requirePartner(_ exchange: Exchange) throws(Fault) {
        guard (try? exchange.captured("partner"))?.lowercased() == "apple" else {
            throw Fault(.invalidParameterPartner, "The partner is missing or not known.")
        }
    }
}

/// `/api/v2/{serviceProvider}/sessions`: the way to a sign-in (rest-v2 §2.2 to §2.5).
struct SessionEndpointsV2: Sendable {
    let dependencies: Dependencies
    let reader: AppCallReader
    let signIn: SignInEndpoints

    struct Form: Sendable {
        let mvpd: String
        let domainName: String
        let redirectURL: String

        init(_ exchange: Exchange) throws(Fault) {
            mvpd = try V2Fields.field("mvpd", exchange)
            domainName = try V2Fields.field("domainName", exchange)
            redirectURL = try V2Fields.field("redirectUrl", exchange)
        }
    }

    @Sendable func create(_ exchange: Exchange) async throws -> Response {
        let (call, form) = try await reader.device(exchange) { exchange throws(Fault) in try Form(exchange) }
        let plan = try await dependencies.liveCodes.plan(for: exchange.facts.clientAddress) {
            try await dependencies.authentication.beginSignIn(
                BeginSignInRequest(call: call, mvpd: form.mvpd, domainName: form.domainName, redirectURL: form.redirectURL),
                context: exchange.changingCall)
        }
        return Response(SignInPlanDocument(plan: plan, serviceProvider: call.requestor, isResumed: false).document, format: .json)
    }

    @Sendable func resume(_ exchange: Exchange) async throws -> Response {
        let (token, requestor, sent) = try await reader.client(exchange) { exchange throws(Fault) in
            (code: try V2Fields.code(exchange), form: try Form(exchange))
        }
        let plan = try await dependencies.authentication.continueSignIn(
            ContinueSignInRequest(
                accessToken: token, requestor: requestor, code: sent.code, mvpd: sent.form.mvpd, domainName: sent.form.domainName,
                redirectURL: sent.form.redirectURL), context: exchange.changingCall)
        return Response(SignInPlanDocument(plan: plan, serviceProvider: requestor, isResumed: true).document, format: .json)
    }

    @Sendable func show(_ exchange: Exchange) async throws -> Response {
        let (token, requestor, code) = try await reader.client(exchange) { exchange throws(Fault) in try V2Fields.code(exchange) }
        let record = try await dependencies.authentication.getRegistrationCode(
            RegistrationCodeRequest(accessToken: token, requestor: requestor, code: code, api: .v2), context: exchange.call)
        return Response(Self.document(record), format: .json)
    }

    private static func document(_ record: RegistrationCode) -> Document {
        let parameters = [("mvpd", record.mvpd), ("domainName", record.domainName), ("redirectUrl", record.redirectURL)]
        let existing = [("serviceProvider", record.requestor)] + parameters.filter { !$0.1.isEmpty }
        var members: [Document.Member] = [.init("existingParameters", .object(existing.map { .init($0.0, .text($0.1)) }))]
        let missing = parameters.filter(\.1.isEmpty).map { Document.Value.text($0.0) }
        if !missing.isEmpty { members.append(.init("missingParameters", .list(missing, item: "parameter"))) }
        members.append(.init("device", DeviceDocument(record.device ?? DeviceInformation()).value))
        return Document("session", members + SignInPlanDocument.times(record))
    }

    // MARK: In a browser

    /// Sends the browser to the MVPD (rest-v2 §2.5).
    @Sendable func authenticate(_ exchange: Exchange) async throws -> Response {
        let requestor = try dependencies.catalogue.current().requireRequestor(try exchange.capturedRequestor())
        let code: String
        do { code = try V2Fields.code(exchange) } catch { throw Fault(.invalidRequest, error.message) }
        let request = StartSignInRequest(
            requestor: requestor.id, registrationCode: code, clientAddress: exchange.facts.clientAddress.text,
            accessToken: ((try? Bearer.optional(exchange)) ?? nil) ?? "", api: .v2)
        guard requestor.confirmsSignIn else { return try await signIn.start(request, exchange) }
        let record = try await dependencies.authentication.getRegistrationCode(
            RegistrationCodeRequest(requestor: requestor.id, code: code), context: exchange.call)
        return try signIn.confirmation.page(
            record, provider: record.mvpd, action: SignInEndpoints.confirmedPath,
            fields: [("requestor_id", requestor.id), ("reg_code", code), ("api", "v2")], exchange)
    }
}

/// A session of REST v2: what has to be done next (rest-v2 §2.2, §2.3).
struct SignInPlanDocument {
    let plan: SignInPlan
    let serviceProvider: String
    /// True: the answer to a call that has added to a session.
    let isResumed: Bool

    var document: Document {
        var members: [Document.Member] = [
            .init("actionName", .text(actionName)), .init("actionType", .text(plan.step == .authenticate ? "interactive" : "direct")),
            .init("reasonType", .text(reasonType)),
        ]
        if !missing.isEmpty { members.append(.init("missingParameters", .list(missing.map { .text($0) }, item: "parameter"))) }
        members.append(.init("url", .text(url)))
        if plan.step == .partner { members.append(.init("authenticationRequest", .object(request))) }
        if let code = plan.code { members.append(.init("code", .text(code.code))) }
        members += [.init("sessionId", .text(plan.id)), .init("serviceProvider", .text(serviceProvider))]
        if !plan.mvpd.isEmpty { members.append(.init("mvpd", .text(plan.mvpd))) }
        return Document("session", members + (plan.code.map(Self.times) ?? []))
    }

    /// In sessions times are texts (rest-v2 D2).
    static func times(_ code: RegistrationCode) -> [Document.Member] {
        [
            .init("notBefore", .text(String(code.generatedAtMilliseconds))), .init("notAfter", .text(String(code.expiresAtMilliseconds))),
        ]
    }

    private var actionName: String {
        switch plan.step {
        case .authenticate: "authenticate"
        case .authorize: "authorize"
        case .partner: "partner_profile"
        case .complete, .unknown, .unrecognized: isResumed ? "retry" : "resume"
        }
    }

    private var reasonType: String {
        switch plan.reason {
        case .authenticated: "authenticated"
        case .shared: "authenticatedSSO"
        case .temporary: "temporary"
        case .degraded: "degraded"
        case .partnerStatus: "pfs_fallback"
        case .configuration: "configuration_fallback"
        case .missing: "missing_parameters_fallback"
        case .none, .unrecognized: "none"
        }
    }

    /// For the platform's framework.
    private var request: [Document.Member] {
        [
            .init("type", .text("saml")), .init("request", .text(plan.verificationToken)),
            .init("attributesNames", .list(plan.attributeNames.map { .text($0) }, item: "name")),
        ]
    }

    private var missing: [String] {
        [("mvpd", plan.lacksMvpd), ("domainName", plan.lacksDomainName), ("redirectUrl", plan.lacksRedirectURL)].filter(\.1).map(\.0)
    }

    private var url: String {
        let (provider, code) = (PercentEncoding.encode(serviceProvider), plan.code?.code ?? "")
        return switch plan.step {
        case .authenticate: "/api/v2/authenticate/\(provider)/\(code)"
        case .authorize: "/api/v2/\(provider)/decisions/authorize/\(PercentEncoding.encode(plan.mvpd))"
        case .partner: "/api/v2/\(provider)/profiles/sso/Apple"
        case .complete, .unknown, .unrecognized: "/api/v2/\(provider)/sessions/\(code)"
        }
    }
}

/// `AP-Partner-Framework-Status`: what the platform's sign-in framework told the app, a JSON object as Base64 (rest-v2 §1.3).
enum PartnerFrameworkStatus {
    /// In octets.
    private static let longest = 4096

    /// - Returns: `nil` when the header was not sent. An unreadable part is absent in the status: the service says what that means.
    static func sent(_ exchange: Exchange) -> PartnerStatus? {
        let sent = exchange.headers[values: .apPartnerFrameworkStatus]
        guard let encoded = sent.first else { return nil }
        guard sent.count == 1, encoded.utf8.count <= longest, let bytes = Base64.tolerant(encoded),
            let permission = object("frameworkPermissionInfo", in: bytes), let provider = object("frameworkProviderInfo", in: bytes)
        else { return PartnerStatus() }
        let expiry = value("expirationDate", of: provider)
        var end: UInt64 = 0
        if case .string(let digits) = expiry { end = UInt64(digits) ?? 0 }
        return PartnerStatus(
            access: access(text(value("accessStatus", of: permission))), providerID: text(value("id", of: provider)), expiresAtMilliseconds: end,
            hasUnreadableExpiry: isSent(expiry) && end == 0)
    }

    private static func object(_ name: String, in bytes: [UInt8]) -> [JsonMember]? {
        guard let document = try? JsonDocument(parsing: bytes), case .object(let members) = document.root.content,
            case .object(let object) = value(name, of: members)
        else { return nil }
        return object
    }

    private static func value(_ name: String, of members: [JsonMember]) -> JsonNode.Content? { members.first { $0.name == name }?.value.content }

    private static func isSent(_ content: JsonNode.Content?) -> Bool {
        switch content {
        case nil, .null: false
        default: true
        }
    }

    private static func text(_ content: JsonNode.Content?) -> String {
        guard case .string(let text) = content, !text.utf8.contains(0) else { return "" }
        return text
    }

    private static func access(_ text: String) -> PartnerAccess {
        switch text {
        case "": .absent
        case "granted": .granted
        case "notDetermined": .notDetermined
        default: .refused
        }
    }
}
