internal import Foundation

extension EntitlementClient {
    /// Gets a media token for one play, asking the provider unless it has permitted the resource before.
    ///
    /// Events before the result: tracking, then the code of the refusal, or of the exception that permitted it.
    /// - Parameters:
    ///   - resource: A channel's name, or Media RSS.
    ///   - data: Pairs for the server, for a promotional trial for example.
    /// - Throws: `EntitlementError.notConfigured`, or `.denied`; with the code `.notAuthenticated` the device is not signed in, and nothing was asked.
    public func authorize(_ resource: Resource.ID, data: [String: String] = [:]) async throws -> MediaToken {
        let configuration = try await ready()
        guard let token = await goodToken(configuration) else {
            throw EntitlementError.denied(AuthorizationDenial(code: .notAuthenticated, statusCode: nil))
        }
        let isCached = keeper.permission(resource, token).map { now(configuration) < $0.expires } ?? false
        do {
            let media = try await mediaToken(resource, data, token, isCached: isCached, configuration)
            denials.forget(resource)
            track(tracked(resource, token, isCached: isCached, nil))
            switch token.source {
            case .degraded: emit(Status(.degradedAuthorization, resource: resource))
            case .tempPass: emit(Status(.tempPassAuthorization, resource: resource))
            case .regular, .apple: break
            }
            return media
        } catch let refusal as Refused {
            throw EntitlementError.denied(denied(resource, refusal.refusal, token, isCached))
        }
    }

    private struct Refused: Error { let refusal: AuthorizationRefusal }

    private func mediaToken(
        _ resource: Resource.ID, _ data: [String: String], _ token: StoredToken, isCached: Bool, _ configuration: ServiceConfiguration
    ) async throws -> MediaToken {
        if !isCached { try await askPermission(resource, data, token, configuration) }
        do {
            return try await fetchMediaToken(resource, token, configuration)
        } catch let refused as Refused where isCached && refused.refusal.status == .notAuthorized && !refused.refusal.endsSession {
            // The servers may have removed or ended the session that is kept here.
            keeper.removePermission(resource, of: configuration.requestor)
            try await askPermission(resource, data, token, configuration)
            return try await fetchMediaToken(resource, token, configuration)
        }
    }

    /// AUZ.
    private func askPermission(
        _ resource: Resource.ID, _ data: [String: String], _ token: StoredToken, _ configuration: ServiceConfiguration
    ) async throws {
        let call = ServerCall.authorization(configuration.requestor, resource, data: Self.text(data), environment.device)
        let answer = try await asked(call, token, configuration)
        guard let permission = answer.decoded(ServerAnswers.Permission.self) else {
            throw Refused(refusal: AuthorizationRefusal(.unexpectedAnswer("authorization")))
        }
        keeper.keep(
            StoredPermission(
                requestor: configuration.requestor, provider: token.provider, resource: resource, expires: permission.expires.date))
    }

    /// MED.
    private func fetchMediaToken(
        _ resource: Resource.ID, _ token: StoredToken, _ configuration: ServiceConfiguration
    ) async throws -> MediaToken {
        let answer = try await asked(.mediaToken(configuration.requestor, resource, environment.device), token, configuration)
        guard let media = answer.decoded(ServerAnswers.Media.self) else {
            throw Refused(refusal: AuthorizationRefusal(.unexpectedAnswer("media token")))
        }
        return MediaToken(
            serialized: media.serializedToken, resource: resource, provider: media.mvpdId.map { Provider.ID($0) } ?? token.provider,
            userID: media.userId ?? token.userID, expires: media.expires?.date)
    }

    /// - Returns: An answer of status 200.
    private func asked(_ call: ServerCall, _ token: StoredToken, _ configuration: ServiceConfiguration) async throws -> HTTPResponse {
        do {
            let answer = try await send(call, configuration, token.provider)
            guard answer.status == 200 else { throw Refused(refusal: AuthorizationRefusal(answer)) }
            return answer
        } catch let failure as ServerFailure {
            throw Refused(refusal: AuthorizationRefusal(failure))
        }
    }

    private func denied(
        _ resource: Resource.ID, _ refusal: AuthorizationRefusal, _ token: StoredToken, _ isCached: Bool
    ) -> AuthorizationDenial {
        var status = refusal.status
        if refusal.endsSession { keeper.removeToken(of: token.requestor) }
        if status == .notAuthorized, !refusal.endsSession, denials.isRepeated(resource, at: environment.clock.uptime) { status = .repeatedlyDenied }
        track(tracked(resource, token, isCached: isCached, (status, refusal.text)))
        emit(Status(status, message: refusal.text.isEmpty ? nil : refusal.text, resource: resource))
        return AuthorizationDenial(code: refusal.code, statusCode: status, text: refusal.text)
    }

    private func tracked(
        _ resource: Resource.ID, _ token: StoredToken, isCached: Bool, _ failure: (code: StatusCode, text: String)?
    ) -> Tracking {
        .authorization(
            isSuccess: failure == nil, provider: token.provider, userID: token.userID, isCached: isCached, error: failure?.code.rawValue ?? "",
            details: failure?.text ?? "", device: environment.device.tracked)
    }
}
