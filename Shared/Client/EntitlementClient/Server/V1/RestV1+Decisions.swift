internal import Octets
internal import Foundation

extension RestV1 {
    func authorize(
        _ resource: Resource.ID, data: [String: String], _ session: ActiveSession, isPermitted: Bool
    ) async throws -> AuthorizationGrant {
        if !isPermitted { try await askPermission(resource, data, session.token) }
        do {
            return try await mediaToken(resource, session.token)
        } catch let refusal as AuthorizationRefusal where isPermitted && refusal.status == .notAuthorized && !refusal.endsSession {
            // The servers may have removed or ended the session that is kept here.
            context.keeper.removePermission(resource, of: context.requestor)
            try await askPermission(resource, data, session.token)
            return try await mediaToken(resource, session.token)
        }
    }

    /// AUZ.
    private func askPermission(_ resource: Resource.ID, _ data: [String: String], _ token: StoredToken) async throws {
        let answer = try await asked(.authorization(context.requestor, resource, data: data.genericText, context.device))
        guard let permission = answer.decoded(V1Answers.Permission.self) else { throw AuthorizationRefusal(.unexpectedAnswer("authorization")) }
        context.keeper.keep(
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
