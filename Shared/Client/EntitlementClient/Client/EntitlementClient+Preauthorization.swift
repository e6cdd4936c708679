internal import Foundation

extension EntitlementClient {
    /// Asks which of some resources the person's subscription covers, to mark them in the app. Playing needs ``authorize(_:data:)`` all the same.
    ///
    /// - Parameters:
    ///   - resources: As many as the integration permits, by default 5.
    ///   - disabling: Caches not to use.
    /// - Returns: In the servers' order, which is that of the request.
    /// - Throws: `EntitlementError.preauthorizationFailed`; when the servers refused, after the event P100. `CancellationError`.
    public func preauthorize(_ resources: [Resource.ID], disabling: Set<PreauthorizationFeature> = []) async throws -> [Decision] {
        let configuration: ServiceConfiguration
        do {
            configuration = try await ready()
        } catch is EntitlementError {
            throw EntitlementError.preauthorizationFailed(.requestorNotConfigured)
        }
        let (decision, token) = await check(configuration)
        guard decision.isAuthenticated, let token else {
            throw EntitlementError.preauthorizationFailed(decision.row == "C2" ? .sessionExpired : .sessionMissing)
        }
        let key = PreauthorizationCache.Key(provider: token.provider, userID: token.userID, resources: resources)
        if !disabling.contains(.localCache), let known = preauthorizations.decisions(key, at: environment.clock.uptime) { return known }
        let decisions = try await askDecisions(resources, avoidsCaches: disabling.contains(.remoteCache), token, configuration)
        let now = environment.clock.uptime
        preauthorizations.keep(decisions, key, until: now + Self.preauthorizationLifetime, now: now)
        return decisions
    }

    private func askDecisions(
        _ resources: [Resource.ID], avoidsCaches: Bool, _ token: StoredToken, _ configuration: ServiceConfiguration
    ) async throws -> [Decision] {
        let call = ServerCall.preauthorization(configuration.requestor, resources, avoidsCaches: avoidsCaches, environment.device)
        let answer: HTTPResponse
        do {
            answer = try await send(call, configuration, token.provider)
        } catch let failure as ServerFailure {
            throw EntitlementError.preauthorizationFailed(Self.status(failure))
        }
        guard answer.status == 200 else {
            let status = Self.status(answer)
            emit(Status(.preauthorizationFailed, message: status.message, details: status.details ?? status.code))
            throw EntitlementError.preauthorizationFailed(status)
        }
        guard let decisions = answer.decoded(ServerAnswers.Decisions.self) else {
            throw EntitlementError.preauthorizationFailed(.unknownFormat)
        }
        return decisions.resources.map { item in
            Decision(resource: Resource.ID(item.id), isAuthorized: item.authorized, status: item.error.map { Self.status($0, answer.status) })
        }
    }

    private static func status(_ failure: ServerFailure) -> PreauthorizationStatus {
        switch failure {
        case .noAccessToken, .statementRefused: .noAccessToken
        case .unreachable, .insecure: .networkError
        case .unexpectedAnswer: .unknownFormat
        case .throttled: PreauthorizationStatus(status: 429, code: "too_many_requests", action: .retryAfter)
        case .unavailable(let status): PreauthorizationStatus(status: status, code: "internal_error", action: .retry)
        }
    }

    private static func status(_ answer: HTTPResponse) -> PreauthorizationStatus {
        if answer.status == 429 { return status(ServerFailure.throttled) }
        if let failure = answer.decoded(ServerAnswers.Failure.self) { return status(failure, answer.status) }
        return PreauthorizationStatus(
            status: answer.status, code: answer.status >= 500 ? "internal_error" : "server_response_format_unknown", action: .none)
    }

    private static func status(_ failure: ServerAnswers.Failure, _ httpStatus: Int) -> PreauthorizationStatus {
        PreauthorizationStatus(
            status: failure.status ?? httpStatus, code: failure.code ?? "",
            action: failure.action.flatMap(PreauthorizationStatus.Action.init) ?? .none,
            message: failure.message, details: failure.details, helpURL: failure.helpUrl, trace: failure.trace)
    }
}
