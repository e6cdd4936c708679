internal import Foundation
internal import Octets

/// The servers' API, version 1 (rest-v1).
struct RestV1: RestAPI {
    let context: ServerContext

    private var requestor: Requestor.ID { context.requestor }
    private var device: DeviceDescription { context.device }

    func configuration() async throws -> HTTPResponse { try await context.send(.configuration(requestor, device)) }

    // MARK: - Sign-in

    func beginLogin(at provider: Provider.ID, data: [String: String], returnAddress: String?) async throws -> LoginStart? {
        guard let code = try await registrationCode(provider) else { return nil }
        let page = returnAddress.flatMap { address in
            let call = ServerCall.login(
                code: code.code, requestor, provider, domain: context.domain, data: data.genericText, returnAddress: address)
            return call.url(at: context.link.server)
        }
        return .login(PendingLogin(code: code, page: page))
    }

    private func registrationCode(_ provider: Provider.ID) async throws -> RegistrationCode? {
        let answer = try await context.send(.registrationCode(requestor, provider, device))
        guard answer.status == 201, let record = answer.decoded(V1Answers.Code.self) else { return nil }
        let lifetime = min(max(record.expires.date.timeIntervalSince(record.generated.date), 0), 36_000)
        return RegistrationCode(
            code: record.code, provider: provider, expires: record.expires.date, lifetime: .seconds(lifetime),
            loginAddress: record.info?.registrationURL.flatMap { URL(string: $0) })
    }

    func beginTrial(at provider: Provider.ID, data: [String: String]) async throws -> Bool {
        try await context.send(.tempPass(requestor, provider, domain: context.domain, data: data.genericText, device)).status == 204
    }

    /// The first answer to a login then leads straight back (client-sdk §2.1).
    func beginDegraded(at provider: Provider.ID, returnAddress: String) async throws -> Bool {
        guard let code = try await registrationCode(provider) else { return false }
        let call = ServerCall.login(code: code.code, requestor, provider, domain: context.domain, returnAddress: returnAddress)
        let answer = try await context.send(call)
        guard (300..<400).contains(answer.status), let location = answer.header("Location").flatMap({ URL(string: $0) }) else { return false }
        return EntitlementClient.isReturn(location, to: returnAddress)
    }

    func beginPlatformSignIn(at provider: Provider, _ account: AccountMetadata, returnAddress: String) async throws -> PlatformStart {
        let answer = try await context.send(.profileRequest(requestor, provider.id, device))
        switch answer.status {
        case 200 where !answer.body.isEmpty:
            return .request(String(decoding: answer.body, as: UTF8.self), attributeNames: provider.requiredMetadataFields)
        // The provider is out of order, or its single sign-on is switched off at the server.
        case 400: return .refused
        case 429: throw ServerFailure.throttled
        default: throw ServerFailure.unexpectedAnswer("profile request: status \(answer.status)")
        }
    }

    func exchange(_ response: String, at provider: Provider.ID, _ account: AccountMetadata) async throws -> StoredToken? {
        let answer = try await context.send(.exchange(requestor, provider, response, device))
        guard answer.status == 204 else { throw ServerFailure.unexpectedAnswer("exchange: status \(answer.status)") }
        return nil
    }

    // MARK: - Session

    func session(_ search: SessionSearch) async throws -> SessionAnswer {
        switch search {
        case .login:
            let found = try await session(.regular)
            guard case .session(var token) = found, try await isDegraded() else { return found }
            token.source = .degraded
            return .session(token)
        case .provider(_, let source, _): return try await session(source)
        case .trial: return try await session(.tempPass)
        case .any: return try await session(.regular)
        }
    }

    /// AUN. The API does not say of which kind the session is.
    private func session(_ source: Session.Source) async throws -> SessionAnswer {
        let answer = try await context.send(.session(requestor, device))
        switch answer.status {
        case 200:
            guard let session = answer.decoded(V1Answers.Session.self) else { return .failed("the answer is not what these servers send") }
            return .session(
                StoredToken(
                    requestor: requestor, provider: Provider.ID(session.mvpd), source: source, expires: session.expires.date,
                    userID: session.userId ?? "", deviceID: device.id))
        case 404, 410: return .none
        case 429: return .throttled
        default: return .failed("status \(answer.status)")
        }
    }

    /// The marker of a person that the server let in without the provider (rest-v1 §6.1).
    private static let degradationMarker = "95cf93bcd183214a"

    /// The server may have made the session of a login without the provider (client-sdk §2.1, T's kind).
    private func isDegraded() async throws -> Bool {
        do {
            guard case .string(let user) = try await userMetadata()?.values["userID"] else { return false }
            return user.hasPrefix(Self.degradationMarker)
        } catch is ServerFailure {
            return false
        }
    }

    func userMetadata(_ session: ActiveSession) async throws -> UserMetadata? { try await userMetadata() }

    private func userMetadata() async throws -> UserMetadata? {
        let answer = try await context.send(.userMetadata(requestor, device))
        guard answer.status == 200, let metadata = answer.decoded(V1Answers.UserMetadata.self) else { return nil }
        return UserMetadata(values: metadata.data, encrypted: Set(metadata.encrypted ?? []))
    }

    func signOut(of provider: Provider.ID?, opensPages: Bool, returnAddress: String) async throws -> SignOutAnswer {
        // An address that a browser opens cannot be signed.
        guard opensPages, !context.link.isSigned else {
            return try await context.send(.logout(requestor, device)).status == 204 ? .done(platformStays: false) : .failed
        }
        let call = ServerCall.browserLogout(
            requestor, device, information: context.options.deviceInformation ?? device.information(.v1), returnAddress: returnAddress,
            accessToken: try await context.link.bearer(options: context.options))
        return call.url(at: context.link.server).map { .page($0, isDone: false) } ?? .failed
    }
}

extension RestV1 {
    func authorize(
        _ resource: Resource.ID, data: [String: String], _ session: ActiveSession, isPermitted: Bool
    ) async throws -> AuthorizationGrant {
        if !isPermitted { try await askPermission(resource, data, session.token) }
        do {
            return try await mediaToken(resource, session.token)
        } catch let refusal as AuthorizationRefusal where isPermitted && refusal.status == .notAuthorized && !refusal.endsSession {
            // The servers may have removed or ended the session that is kept here.
            context.stateStore.removePermission(resource, of: context.requestor)
            try await askPermission(resource, data, session.token)
            return try await mediaToken(resource, session.token)
        }
    }

    /// AUZ.
    private func askPermission(_ resource: Resource.ID, _ data: [String: String], _ token: StoredToken) async throws {
        let answer = try await asked(.authorization(context.requestor, resource, data: data.genericText, context.device))
        guard let permission = answer.decoded(V1Answers.Permission.self) else { throw AuthorizationRefusal(.unexpectedAnswer("authorization")) }
        context.stateStore.keep(
            StoredPermission(requestor: context.requestor, provider: token.provider, resource: resource, expires: permission.expires.date))
    }

    /// MED.
    private func mediaToken(_ resource: Resource.ID, _ token: StoredToken) async throws -> AuthorizationGrant {
        let answer = try await asked(.mediaToken(context.requestor, resource, context.device))
        guard let media = answer.decoded(V1Answers.Media.self) else { throw AuthorizationRefusal(.unexpectedAnswer("media token")) }
        let granted = MediaToken(
            serialized: media.serializedToken, resource: resource, provider: media.mvpdId.map { Provider.ID($0) } ?? token.provider,
            userID: media.userId ?? token.userID, expires: media.expires?.date)
        return AuthorizationGrant(token: granted, exception: token.source.exception)
    }

    /// - Returns: An answer of status 200.
    private func asked(_ call: ServerCall) async throws -> HTTPResponse {
        let answer = try await context.send(call)
        guard answer.status == 200 else { throw AuthorizationRefusal(answer) }
        return answer
    }

    func decisions(_ resources: [Resource.ID], avoidsCaches: Bool, _ session: ActiveSession) async throws -> PreauthorizationAnswer {
        let answer = try await context.send(.preauthorization(context.requestor, resources, avoidsCaches: avoidsCaches, context.device))
        guard answer.status == 200 else { return .refused(PreauthorizationStatus(answer)) }
        guard let decisions = answer.decoded(V1Answers.Decisions.self) else { return .unknownFormat }
        return .decisions(
            decisions.resources.map { item in
                Decision(
                    resource: Resource.ID(item.id), isAuthorized: item.authorized,
                    status: item.error.map { PreauthorizationStatus($0, httpStatus: answer.status) })
            })
    }
}

/// The calls of rest-v1.
extension ServerCall {
    static func configuration(_ requestor: Requestor.ID, _ device: DeviceDescription) -> ServerCall {
        ServerCall(
            method: .get, path: "/api/v1/config/\(FormEncoding.encode(requestor.rawValue))",
            query: [Parameter("deviceType", device.platform.deviceType)], timeout: .seconds(10))
    }

    static func profileRequest(_ requestor: Requestor.ID, _ provider: Provider.ID, _ device: DeviceDescription) -> ServerCall {
        let path = "/api/v1/\(FormEncoding.encode(requestor.rawValue))/profile-requests/\(FormEncoding.encode(provider.rawValue))"
        return ServerCall(method: .get, path: path, query: [Parameter("deviceType", device.platform.deviceType)])
    }

    /// - Parameter response: Base64, see ``PlatformAnswerText``.
    static func exchange(_ requestor: Requestor.ID, _ provider: Provider.ID, _ response: String, _ device: DeviceDescription) -> ServerCall {
        ServerCall(
            method: .post, path: "/api/v1/tokens/authn",
            form: deviceSet(requestor, device) + [
                Parameter("mvpd", provider.rawValue), Parameter("deviceType", device.platform.deviceType), Parameter("SAMLResponse", response),
            ])
    }

    static func session(_ requestor: Requestor.ID, _ device: DeviceDescription) -> ServerCall {
        ServerCall(method: .get, path: "/api/v1/tokens/authn", query: deviceSet(requestor, device))
    }

    static func registrationCode(_ requestor: Requestor.ID, _ provider: Provider.ID, _ device: DeviceDescription) -> ServerCall {
        ServerCall(
            method: .post, path: "/reggie/v1/\(FormEncoding.encode(requestor.rawValue))/regcode",
            form: [Parameter("deviceId", device.id), Parameter("mvpd", provider.rawValue)])
    }

    /// The start of a login, opened by a browser (rest-v1 §3.7). `reg_code` comes first because `&reg` may be taken for `®`.
    static func login(
        code: String, _ requestor: Requestor.ID, _ provider: Provider.ID, domain: String, data: String? = nil, returnAddress: String
    ) -> ServerCall {
        var query = [
            Parameter("reg_code", code), Parameter("requestor_id", requestor.rawValue), Parameter("mso_id", provider.rawValue),
            Parameter("domain_name", domain), Parameter("noflash", "true"), Parameter("no_iframe", "true"),
        ]
        if let data { query.append(Parameter("generic_data", data)) }
        query.append(Parameter("redirect_url", returnAddress))
        return ServerCall(method: .get, path: "/api/v1/authenticate", query: query, carriesBearer: false)
    }

    static func tempPass(
        _ requestor: Requestor.ID, _ provider: Provider.ID, domain: String, data: String?, _ device: DeviceDescription
    ) -> ServerCall {
        var form = [
            Parameter("requestor_id", requestor.rawValue), Parameter("deviceId", device.id), Parameter("mso_id", provider.rawValue),
            Parameter("domain_name", domain),
        ]
        if let data { form.append(Parameter("generic_data", data)) }
        return ServerCall(method: .post, path: "/api/v1/authenticate/freepreview", form: form)
    }

    static func authorization(_ requestor: Requestor.ID, _ resource: Resource.ID, data: String?, _ device: DeviceDescription) -> ServerCall {
        let more = data.map { [Parameter("generic_data", $0)] } ?? []
        return ServerCall(
            method: .get, path: "/api/v1/authorize", query: deviceSet(requestor, device) + [Parameter("resource", resource.rawValue)] + more)
    }

    static func mediaToken(_ requestor: Requestor.ID, _ resource: Resource.ID, _ device: DeviceDescription) -> ServerCall {
        ServerCall(
            method: .get, path: "/api/v1/tokens/media", query: deviceSet(requestor, device) + [Parameter("resource", resource.rawValue)])
    }

    static func preauthorization(
        _ requestor: Requestor.ID, _ resources: [Resource.ID], avoidsCaches: Bool, _ device: DeviceDescription
    ) -> ServerCall {
        let list = resources.map(\.rawValue).joined(separator: ",")
        return ServerCall(
            method: .get, path: "/api/v1/preauthorize", query: deviceSet(requestor, device) + [Parameter("resource", list)],
            headers: avoidsCaches ? [HTTPHeader("Cache-Control", "no-cache")] : [])
    }

    static func userMetadata(_ requestor: Requestor.ID, _ device: DeviceDescription) -> ServerCall {
        ServerCall(method: .get, path: "/api/v1/tokens/usermetadata", query: deviceSet(requestor, device))
    }

    static func logout(_ requestor: Requestor.ID, _ device: DeviceDescription) -> ServerCall {
        ServerCall(method: .delete, path: "/api/v1/logout", query: deviceSet(requestor, device))
    }

    /// Logout as a browser makes it, which cannot send headers (rest-v1 §3.20).
    static func browserLogout(
        _ requestor: Requestor.ID, _ device: DeviceDescription, information: String, returnAddress: String, accessToken: String
    ) -> ServerCall {
        ServerCall(
            method: .get, path: "/api/v1/logout",
            query: deviceSet(requestor, device) + [
                Parameter("device_info", information), Parameter("redirect_url", returnAddress), Parameter("access_token", accessToken),
            ], carriesBearer: false)
    }

    private static func deviceSet(_ requestor: Requestor.ID, _ device: DeviceDescription) -> [Parameter] {
        [Parameter("requestor", requestor.rawValue), Parameter("deviceId", device.id)]
    }
}
