internal import Octets
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
        let (decision, session) = await check(configuration)
        guard decision.isAuthenticated, let session else {
            throw EntitlementError.preauthorizationFailed(decision.row == "C2" ? .sessionExpired : .sessionMissing)
        }
        let key = PreauthorizationCache.Key(provider: session.token.provider, userID: session.token.userID, resources: resources)
        if !disabling.contains(.localCache), let known = preauthorizations.decisions(key, at: environment.clock.uptime) { return known }
        let decisions = try await askDecisions(resources, avoidsCaches: disabling.contains(.remoteCache), session, configuration)
        let now = environment.clock.uptime
        preauthorizations.keep(decisions, key, until: now + Self.preauthorizationLifetime, now: now)
        return decisions
    }

    private func askDecisions(
        _ resources: [Resource.ID], avoidsCaches: Bool, _ session: ActiveSession, _ configuration: ServiceConfiguration
    ) async throws -> [Decision] {
        let answer: PreauthorizationAnswer
        do {
            answer = try await api(configuration, session.token.provider).decisions(resources, avoidsCaches: avoidsCaches, session)
        } catch let failure as ServerFailure {
            throw EntitlementError.preauthorizationFailed(PreauthorizationStatus(failure))
        }
        switch answer {
        case .decisions(let decisions): return decisions
        case .unknownFormat: throw EntitlementError.preauthorizationFailed(.unknownFormat)
        case .refused(let status):
            emit(Status(.preauthorizationFailed, message: status.message, details: status.details ?? status.code))
            throw EntitlementError.preauthorizationFailed(status)
        }
    }
}
