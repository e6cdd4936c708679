internal import Octets
internal import Foundation

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
