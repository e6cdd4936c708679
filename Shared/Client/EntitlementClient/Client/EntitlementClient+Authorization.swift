internal import Octets
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
        guard let session = await goodSession(configuration) else {
            throw EntitlementError.denied(AuthorizationDenial(code: .notAuthenticated, statusCode: nil))
        }
        let token = session.token
        let isCached = keeper.permission(resource, token).map { now(configuration) < $0.expires } ?? false
        do {
            let grant = try await api(configuration, token.provider).authorize(resource, data: data, session, isPermitted: isCached)
            denials.forget(resource)
            track(tracked(resource, token, isCached: isCached, nil))
            if let exception = grant.exception { emit(Status(exception, resource: resource)) }
            return grant.token
        } catch let refusal as AuthorizationRefusal {
            throw EntitlementError.denied(denied(resource, refusal, token, isCached))
        } catch let failure as ServerFailure {
            throw EntitlementError.denied(denied(resource, AuthorizationRefusal(failure), token, isCached))
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
