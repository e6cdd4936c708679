internal import Foundation
internal import Octets

/// The servers' API, version 2 (rest-v2).
struct RestV2: RestAPI {
    /// The platform's single sign-on, as the servers name it.
    private static let partner = "Apple"
    /// In seconds, where the server does not say it.
    private static let usualCodeLifetime: TimeInterval = 1800

    let context: ServerContext

    func configuration() async throws -> HTTPResponse {
        var call = call(.get, "configuration")
        call.timeout = .seconds(10)
        return try await context.send(call)
    }

    // MARK: - Sign-in

    /// Pairs for the server have no place here, but for a trial.
    func beginLogin(at provider: Provider.ID, data: [String: String], returnAddress: String?) async throws -> LoginStart? {
        let form = [Parameter("mvpd", provider.rawValue)] + ending(at: returnAddress ?? secondScreenEnd)
        let answer = try await context.send(call(.post, "sessions", form: form))
        guard (200..<300).contains(answer.status), let session = answer.decoded(V2Answers.Session.self) else { return nil }
        if session.actionName == "authorize" { return .alreadySignedIn }
        guard let code = session.code, let end = session.notAfter?.date else { return nil }
        let page = session.actionName == "authenticate" ? session.url.flatMap { ServerCall.url($0, at: context.link.server) } : nil
        // The device's own clock may be wrong.
        let lifetime = session.notBefore.map { min(max(end.timeIntervalSince($0.date), 0), 36_000) } ?? Self.usualCodeLifetime
        let record = RegistrationCode(code: code, provider: provider, expires: end, lifetime: .seconds(lifetime), loginPage: page)
        return .login(PendingLogin(code: record, page: page))
    }

    private func ending(at returnAddress: String) -> [Parameter] {
        [Parameter("domainName", context.domain), Parameter("redirectUrl", returnAddress)]
    }

    /// The brand's own page: a second screen may know nothing of the app's address.
    private var secondScreenEnd: String { context.domain.isEmpty ? context.environment.returnAddress : "https://\(context.domain)/" }

    /// A trial needs no call: the first authorization starts it (§5 L).
    func beginTrial(at provider: Provider.ID, data: [String: String]) async throws -> Bool { true }

    /// Nor does a provider that is out of order (§5 K).
    func beginDegraded(at provider: Provider.ID, returnAddress: String) async throws -> Bool { true }

    func beginPlatformSignIn(at provider: Provider, _ account: AccountMetadata, returnAddress: String) async throws -> PlatformStart {
        let answer = try await context.send(
            call(
                .post, "sessions", "sso", Self.partner, form: ending(at: returnAddress), headers: [Self.frameworkStatus(account)]))
        switch answer.status {
        case 200..<300:
            guard let session = answer.decoded(V2Answers.Session.self) else {
                throw ServerFailure.unexpectedAnswer("partner session: the answer is not what these servers send")
            }
            return Self.start(session, provider)
        case 400 where answer.decoded(ServerAnswers.Failure.self)?.code == "invalid_integration": return .unsupported
        case 429: throw ServerFailure.throttled
        default: throw ServerFailure.unexpectedAnswer("partner session: status \(answer.status)")
        }
    }

    private static func start(_ session: V2Answers.Session, _ provider: Provider) -> PlatformStart {
        switch (session.actionName, session.reasonType) {
        case ("authorize", "degraded"): return .refused
        case ("authorize", _): return .alreadySignedIn
        case (_, "configuration_fallback"): return .unsupported
        default:
            guard let request = session.authenticationRequest else {
                return .failed("the server wants another way (\(session.reasonType ?? session.actionName))")
            }
            return .request(request.request, attributeNames: request.attributesNames ?? provider.requiredMetadataFields)
        }
    }

    func exchange(_ response: String, at provider: Provider.ID, _ account: AccountMetadata) async throws -> StoredToken? {
        let answer = try await context.send(
            call(
                .post, "profiles", "sso", Self.partner, form: [Parameter("SAMLResponse", response)], headers: [Self.frameworkStatus(account)]))
        guard (200..<300).contains(answer.status) else { throw ServerFailure.unexpectedAnswer("exchange: status \(answer.status)") }
        guard let profiles = answer.decoded(V2Answers.Profiles.self), let token = token(profiles, provider) else {
            throw ServerFailure.unexpectedAnswer("exchange: the answer holds no profile")
        }
        return token
    }

    // MARK: - Session

    func session(_ search: SessionSearch) async throws -> SessionAnswer {
        switch search {
        case .login(let login): return found(try await context.send(call(.get, "profiles", "code", login.code.code)), nil)
        case .provider(let id, _, let account):
            let headers = account.map { [Self.frameworkStatus($0)] } ?? []
            return found(try await context.send(call(.get, "profiles", id.rawValue, headers: headers)), id)
        case .any: return found(try await context.send(call(.get, "profiles")), nil)
        case .trial(let id, let data):
            let identity = data.genericText
            let answer = found(try await context.send(call(.get, "profiles", id.rawValue, headers: Self.identity(identity))), id)
            guard case .session(var token) = answer else { return answer }
            token.trialIdentity = identity
            return .session(token)
        }
    }

    private func found(_ answer: HTTPResponse, _ provider: Provider.ID?) -> SessionAnswer {
        switch answer.status {
        case 200:
            guard let profiles = answer.decoded(V2Answers.Profiles.self) else { return .failed("the answer is not what these servers send") }
            return token(profiles, provider).map { .session($0) } ?? .none
        case 429: return .throttled
        case 400, 403:
            switch answer.decoded(ServerAnswers.Failure.self)?.code {
            case "invalid_authentication_session": return .over
            case "temporary_access_duration_limit_exceeded", "temporary_access_resources_limit_exceeded": return .refused(.tempPassExpired)
            case "invalid_header_identity_for_temporary_access": return .refused(nil)
            default: return .failed("status \(answer.status)")
            }
        default: return .failed("status \(answer.status)")
        }
    }

    /// The session that a profile stands for; of several the newest.
    private func token(_ answer: V2Answers.Profiles, _ provider: Provider.ID?) -> StoredToken? {
        let candidates = answer.profiles.filter { provider == nil || $0.key.text == provider?.rawValue }
        let newest = candidates.max { ($0.value.notBefore?.date ?? .distantPast) < ($1.value.notBefore?.date ?? .distantPast) }
        return newest.map { id, profile in
            StoredToken(
                requestor: context.requestor, provider: Provider.ID(id.text), source: profile.source, expires: profile.end,
                userID: profile.userID(at: id.text), deviceID: context.device.id, api: .v2)
        }
    }

    func userMetadata(_ session: ActiveSession) async throws -> UserMetadata? {
        let provider = session.token.provider.rawValue
        let answer = try await context.send(call(.get, "profiles", provider, headers: proof(of: session)))
        guard answer.status == 200 else { return nil }
        return answer.decoded(V2Answers.Profiles.self)?.profiles[provider]?.metadata
    }

    func signOut(of provider: Provider.ID?, opensPages: Bool, returnAddress: String) async throws -> SignOutAnswer {
        guard let provider else { return .done(platformStays: false) }
        let answer = try await context.send(call(.get, "logout", provider.rawValue, query: [Parameter("redirectUrl", returnAddress)]))
        switch answer.status {
        case 200:
            guard let logout = answer.decoded(V2Answers.Logouts.self)?.logouts[provider.rawValue] else { return .failed }
            if opensPages, logout.actionName == "logout", let page = logout.url.flatMap({ ServerCall.url($0, at: context.link.server) }) {
                return .page(page, isDone: true)
            }
            return .done(platformStays: logout.actionName == "partner_logout")
        case 400:
            // A provider that can no longer be used has no session to end.
            let code = answer.decoded(ServerAnswers.Failure.self)?.code
            return code == "invalid_integration" || code == "invalid_parameter_mvpd" ? .done(platformStays: false) : .failed
        default: return .failed
        }
    }
}

/// The calls of rest-v2.
extension RestV2 {
    /// - Parameter parts: The parts of the path behind the requestor, not encoded.
    func call(
        _ method: HTTPRequest.Method, _ parts: String..., query: [Parameter] = [], form: [Parameter]? = nil, json: Data? = nil,
        headers: [HTTPHeader] = []
    ) -> ServerCall {
        let path = (["api", "v2", context.requestor.rawValue] + parts).map { "/\(FormEncoding.encode($0))" }.joined()
        return ServerCall(
            method: method, path: path, query: query, form: form, json: json, headers: [context.device.identifierHeader] + headers)
    }

    /// - Parameter kind: `authorize` or `preauthorize`.
    func decisionsCall(_ kind: String, _ resources: [Resource.ID], _ session: ActiveSession, headers: [HTTPHeader]) throws -> ServerCall {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return call(
            .post, "decisions", kind, session.token.provider.rawValue,
            json: try encoder.encode(["resources": resources.map(\.rawValue)]), headers: headers)
    }

    /// The proof that the session is this device's, beside the device's id.
    func proof(of session: ActiveSession, data: [String: String] = [:]) -> [HTTPHeader] {
        switch session.token.source {
        case .apple: session.account.map { [Self.frameworkStatus($0)] } ?? []
        case .tempPass: Self.identity(data.genericText ?? session.token.trialIdentity)
        case .regular, .degraded: []
        }
    }

    /// For a promotional trial: who the person is (§1.3).
    static func identity(_ text: String?) -> [HTTPHeader] {
        text.map { [HTTPHeader("AP-TempPass-Identity", Data($0.utf8).base64EncodedString())] } ?? []
    }

    /// The platform's answer (§1.3); it says something only with the person's permission.
    static func frameworkStatus(_ account: AccountMetadata) -> HTTPHeader {
        var provider: [String: JSONValue] = [:]
        if let name = account.providerIdentifier { provider["id"] = .string(name) }
        if let end = account.expires { provider["expirationDate"] = .string("\(Int64((end.timeIntervalSince1970 * 1000).rounded()))") }
        let status: [String: JSONValue] = [
            "frameworkPermissionInfo": .object(["accessStatus": "granted"]), "frameworkProviderInfo": .object(provider),
        ]
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return HTTPHeader("AP-Partner-Framework-Status", ((try? encoder.encode(status)) ?? Data()).base64EncodedString())
    }
}

extension RestV2 {
    /// One call: the server asks the provider again only when its own permission has ended.
    func authorize(
        _ resource: Resource.ID, data: [String: String], _ session: ActiveSession, isPermitted: Bool
    ) async throws -> AuthorizationGrant {
        let call = try decisionsCall("authorize", [resource], session, headers: proof(of: session, data: data))
        let answer = try await context.send(call)
        guard answer.status == 200 else { throw AuthorizationRefusal(answer) }
        guard let item = answer.decoded(V2Answers.Decisions.self)?.decisions.first, item.resource == resource.rawValue else {
            throw AuthorizationRefusal(.unexpectedAnswer("decision"))
        }
        guard item.authorized else {
            if isPermitted { context.stateStore.removePermission(resource, of: context.requestor) }
            throw AuthorizationRefusal(item.error, status: item.error?.status ?? 403)
        }
        guard let token = item.token else { throw AuthorizationRefusal(.unexpectedAnswer("decision without a media token")) }
        let provider = item.mvpd.map { Provider.ID($0) } ?? session.token.provider
        if let end = item.notAfter?.date { keep(resource, until: end, session.token) }
        return AuthorizationGrant(
            token: MediaToken(
                serialized: token.serializedToken, resource: resource, provider: provider, userID: session.token.userID,
                expires: token.notAfter?.date),
            exception: Self.exception(item, session))
    }

    private func keep(_ resource: Resource.ID, until end: Date, _ token: StoredToken) {
        if token.source == .tempPass, token.expires < end {
            // The time of a trial runs from the first permission on, not from the choice.
            var token = token
            token.expires = end
            context.stateStore.keep(token)
        }
        context.stateStore.keep(StoredPermission(requestor: context.requestor, provider: token.provider, resource: resource, expires: end))
    }

    private static func exception(_ item: V2Answers.Decisions.Item, _ session: ActiveSession) -> StatusCode? {
        switch item.source {
        case "degradation": .degradedAuthorization
        case "temppass": .tempPassAuthorization
        case nil: session.token.source.exception
        default: nil
        }
    }

    func decisions(_ resources: [Resource.ID], avoidsCaches: Bool, _ session: ActiveSession) async throws -> PreauthorizationAnswer {
        let fresh = avoidsCaches ? [HTTPHeader("Cache-Control", "no-cache")] : []
        let answer = try await context.send(decisionsCall("preauthorize", resources, session, headers: proof(of: session) + fresh))
        guard answer.status == 200 else { return .refused(PreauthorizationStatus(answer)) }
        guard let items = answer.decoded(V2Answers.Decisions.self)?.decisions else { return .unknownFormat }
        if let failure = Self.commonFailure(items) { return .refused(PreauthorizationStatus(failure, httpStatus: 403)) }
        return .decisions(
            items.map { item in
                Decision(
                    resource: Resource.ID(item.resource), isAuthorized: item.authorized,
                    status: item.error.map { PreauthorizationStatus($0, httpStatus: 403) })
            })
    }

    /// Codes that the API reports at each resource although they are about the call or the session.
    private static let commonCodes: Set<String> = [
        "too_many_resources", "authenticated_profile_missing", "authenticated_profile_expired", "authenticated_profile_invalidated",
    ]

    private static func commonFailure(_ items: [V2Answers.Decisions.Item]) -> ServerAnswers.Failure? {
        guard let failure = items.first?.error, let code = failure.code, commonCodes.contains(code) else { return nil }
        return items.allSatisfy { !$0.authorized && $0.error?.code == code } ? failure : nil
    }
}
