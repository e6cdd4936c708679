internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Cryptography
internal import Faults
internal import Logging

/// Cache, cut-off, MVPD: in this order (mvpd §4.3). Only permits are kept.
struct DecisionMaker: Sendable {
    /// As the catalogue resolved them for the device's platform (rest-v1 §5).
    typealias Partners = (integration: Integration, mvpd: Mvpd)

    let store: any AuthorizationStore
    let client: PolicyDecisionClient
    let clock: any WallClock
    let logger: Logger
    let metrics: AuthorizationMetrics
    private let denials = SharedDenialLimiter()

    init(store: any AuthorizationStore, client: PolicyDecisionClient, clock: any WallClock, logger: Logger, metrics: AuthorizationMetrics) {
        self.store = store
        self.client = client
        self.clock = clock
        self.logger = logger
        self.metrics = metrics
    }

    /// - Returns: A permit that counts.
    /// - Throws: The MVPD's denial, or why it could not be asked.
    func decide(
        _ session: SessionAtHand, resource: RequestedResource, integration: Partners, context: CallContext
    ) async throws(Fault) -> AuthzToken {
        let key = session.tokenKey(resource)
        if let token = try await store.token(key), token.mvpd == session.mvpd, clock.now() < token.expiresAt {
            metrics.decided("permit", source: .cache)
            return token
        }
        let subject = DenialLimiter.Subject(device: key.device, requestor: key.requestor, resource: Hex.encode(SHA256.hash(key.resource)))
        if let denial = denials.blocked(subject, now: clock.now()) {
            metrics.decided("deny", source: .cutOff)
            logger.notice("authz.rejected", metadata: AuthorizationService.fields(session, context))
            throw denial.fault
        }
        let permit = try await ask(session, resource: resource, mvpd: integration.mvpd, subject: subject, context: context)
        return try await keep(permit, key: key, session: session, integration: integration)
    }

    private func ask(
        _ session: SessionAtHand, resource: RequestedResource, mvpd: Mvpd, subject: DenialLimiter.Subject, context: CallContext
    ) async throws(Fault) -> MvpdDecision.Permit {
        let endpoint = mvpd.authorization ?? AuthorizationEndpoint()
        switch endpoint.protocol {
        case .none:
            // Authenticated means authorized (mvpd §4.1).
            metrics.decided("permit", source: .configuration)
            return MvpdDecision.Permit()
        case .xacmlJson: break
        default: throw Fault(.unimplemented, "The MVPD's authorization protocol is not supported.")
        }
        switch try await decision(of: endpoint, session, resource, context) {
        case .permit(let permit):
            metrics.decided("permit", source: .mvpd)
            logger.info("authz.permitted", metadata: AuthorizationService.fields(session, context))
            if permit.mustBeLogged { logger.notice("authz.transaction", metadata: AuthorizationService.fields(session, context)) }
            return permit
        case .deny(let denial):
            metrics.decided("deny", source: .mvpd)
            denials.record(denial, for: subject, now: clock.now())
            var fields = AuthorizationService.fields(session, context)
            fields["code"] = "\(denial.code)"
            logger.info("authz.denied", metadata: fields)
            throw denial.fault
        }
    }

    private func decision(
        of endpoint: AuthorizationEndpoint, _ session: SessionAtHand, _ resource: RequestedResource, _ context: CallContext
    ) async throws(Fault) -> MvpdDecision {
        let query = DecisionQuery(
            subject: session.upstreamUserID, resource: resource, clientAddress: session.call.clientAddress, userAgent: session.call.userAgent,
            device: session.call.deviceID)
        let start = ContinuousClock.now
        defer { metrics.decisionPointAnswered(after: start.duration(to: .now)) }
        do throws(Fault) {
            return try await client.decide(query, at: endpoint, deadline: context.deadline)
        } catch {
            metrics.decided("error", source: .mvpd)
            var fields = AuthorizationService.fields(session, context)
            fields["code"] = "\(error.code)"
            fields["cause"] = "\(error.cause.map { "\($0)" } ?? "")"
            logger.warning("authz.mvpd_failed", metadata: fields)
            throw error
        }
    }

    private func keep(
        _ permit: MvpdDecision.Permit, key: AuthzTokenKey, session: SessionAtHand, integration: Partners
    ) async throws(Fault) -> AuthzToken {
        let configured = Catalogue.authzLifetime(integration.integration, integration.mvpd)
        let lifetime = DecisionLifetime(reauthorizeAfter: permit.reauthorizeAfter, mvpdExpiry: nil, configured: configured)
        guard let end = lifetime.end(now: clock.now(), sessionEnd: session.expiresAt) else {
            throw Fault(.networkReceivedError, "The MVPD's answer cannot be used.", cause: DecisionPointProblem("no TTL from any source"))
        }
        let token = AuthzToken(key: key, mvpd: session.mvpd, proxyMvpd: session.proxyMvpd, expiresAt: end)
        try await store.save(token)
        return token
    }
}
