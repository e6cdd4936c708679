internal import Octets
internal import Foundation

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
            if isPermitted { context.keeper.removePermission(resource, of: context.requestor) }
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
            context.keeper.keep(token)
        }
        context.keeper.keep(StoredPermission(requestor: context.requestor, provider: token.provider, resource: resource, expires: end))
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
