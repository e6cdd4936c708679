internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Cryptography
internal import Faults
internal import Logging
internal import Synchronization

/// Degradation rule, TempPass, cache, cut-off, MVPD: in this order (mvpd §4.3). Only permits are kept.
struct DecisionMaker: Sendable {
    /// As the catalogue resolved them for the device's platform (rest-v1 §5).
    typealias Partners = (integration: Integration, mvpd: Mvpd)

    /// The play that an app wants, and its conditions.
    struct Question: Sendable {
        let session: SessionAtHand
        let resource: RequestedResource
        let integration: Partners
        let degradation: Degradation
        /// As it was sent; a promotional TempPass needs it.
        var genericData = ""
        /// True: a permit of an upstream comes with its media token, which waits for no other call.
        var takesMedia = false

        var key: AuthzTokenKey { session.tokenKey(resource) }

        /// The source of the decision where no rule decides.
        var source: DecisionSource { session.decider(integration.mvpd) }

        /// The source of the denial.
        func refuser(_ code: Fault.Code) -> DecisionSource { code == .authorizationDeniedByDegradationRule ? .degradation : source }
    }

    let store: any AuthorizationStore
    let client: PolicyDecisionClient
    let tempPasses: TempPassAccount
    let ratings: RatingRefresh
    let clock: any WallClock
    let logger: Logger
    let metrics: AuthorizationMetrics
    let refusals: RefusalNotes?
    let plays: UpstreamPlays
    let denials = SharedDenialLimiter()

    init(
        store: any AuthorizationStore, client: PolicyDecisionClient, sessions: any Sessions, clock: any WallClock, logger: Logger,
        metrics: AuthorizationMetrics, refusals: RefusalNotes? = nil, plays: UpstreamPlays
    ) {
        self.plays = plays
        self.refusals = refusals
        self.store = store
        self.client = client
        tempPasses = TempPassAccount(sessions: sessions)
        ratings = RatingRefresh(sessions: sessions, logger: logger, metrics: metrics)
        self.clock = clock
        self.logger = logger
        self.metrics = metrics
    }

    /// A permit that counts.
    struct Ruling: Sendable {
        let permit: AuthzToken
        /// The media token that came with it, where the question takes one.
        var media: UpstreamPlays.Media?
    }

    /// - Throws: The denial, or why nobody could be asked.
    func decide(_ question: Question, context: CallContext) async throws(Fault) -> Ruling {
        do throws(Fault) {
            return try await metrics.counting(question) { () async throws(Fault) in try await ruling(on: question, context) }
        } catch {
            if error.code.refusesResource { refusals?.note(error.code, from: question.refuser(error.code), of: question.session) }
            throw error
        }
    }

    private func ruling(on question: Question, _ context: CallContext) async throws(Fault) -> Ruling {
        let session = question.session
        switch question.degradation.effect(on: question.resource) {
        case .blocked(let rule):
            metrics.decided("deny", source: .degradation)
            throw Denial(rule).fault
        case .permitted(let rule): return Ruling(permit: try await degraded(question, by: rule))
        case nil: break
        }
        if session.isTempPass { return Ruling(permit: try await tempPass(question, context)) }
        try session.requireIdentity()
        // A promotional trial is told at each authorization who the person is (bridge §10.1).
        if session.bridge?.needsIdentity == true, question.genericData.isEmpty {
            throw Fault(.invalidRequest, "Required 'generic_data' is not present")
        }
        let isFresh = session.isBridged ? try plays.isFresh(session, question.resource) : true
        let isUsable = isFresh && session.upstream == nil
        if isUsable, let token = try await cached(question) { return Ruling(permit: token) }
        let subject = DenialLimiter.Subject(
            device: session.call.deviceID, requestor: session.requestor, resource: Hex.encode(SHA256.hash(question.resource.text)))
        if let denial = denials.blocked(subject, now: clock.now()) {
            metrics.decided("deny", source: .cutOff)
            metrics.countRejection(question, denial)
            logger.notice("authz.rejected", metadata: AuthorizationService.fields(session, context))
            throw denial.fault
        }
        if session.isBridged { return try await bridged(question, subject, context) }
        let permit = try await ask(question, subject: subject, context: context)
        async let passed: Void = ratings.pass(permit.ratings, of: session, context: context)
        let token = try await keep(permit, question)
        await passed
        return Ruling(permit: token)
    }

    /// Upstream is asked, though a permit is there: it alone has media tokens. While it is away what it permitted holds (bridge §9.1).
    private func bridged(_ question: Question, _ subject: DenialLimiter.Subject, _ context: CallContext) async throws(Fault) -> Ruling {
        let session = question.session
        let start = ContinuousClock.now
        var time: Duration { session.upstream?.time ?? start.duration(to: .now) }
        do throws(Fault) {
            let ruling = try await asked(question, context)
            metrics.decided("permit", by: question)
            metrics.count(question, .success(.permit(MvpdDecision.Permit())), after: time)
            logger.info("authz.permitted", metadata: AuthorizationService.fields(session, context))
            return ruling
        } catch {
            let denial = error.code.isDenial ? Denial(code: error.code, details: error.details) : nil
            metrics.count(question, denial.map { .success(.deny($0)) } ?? .failure(error), after: time)
            if error.code == .unavailable || error.code == .upstreamUnavailable, let token = try await cached(question) {
                plays.metrics.answeredStale(session.bridge?.upstream)
                return Ruling(permit: token)
            }
            metrics.decided(error.code.refusesResource ? "deny" : "error", by: question)
            if let denial { denials.record(denial, for: subject, attempt: context.idempotencyKey, now: clock.now()) }
            var fields = AuthorizationService.fields(session, context)
            fields["code"] = "\(error.code)"
            logger.info("authz.denied", metadata: fields)
            throw error
        }
    }

    private func asked(_ question: Question, _ context: CallContext) async throws(Fault) -> Ruling {
        let (session, resource, genericData) = (question.session, question.resource, question.genericData)
        guard question.takesMedia else {
            return Ruling(permit: try await plays.decide(session, resource, genericData: genericData, context))
        }
        let permit = try await plays.decideAndTake(session, resource, genericData: genericData, context)
        return Ruling(permit: permit.token, media: permit.media)
    }

    private func cached(_ question: Question) async throws(Fault) -> AuthzToken? {
        let (now, mvpd, degradation) = (clock.now(), question.session.mvpd, question.degradation)
        let token = try await store.token(question.key) { $0.counts(at: now, mvpd: mvpd, degradation) }
        guard let token, token.counts(at: now, mvpd: mvpd, degradation) else { return nil }
        metrics.decided("permit", source: .cache)
        return token
    }

    /// A permit in the MVPD's place; it ends with the rule (rest-v1 §6.1). One that the MVPD itself gave goes on.
    private func degraded(_ question: Question, by rule: DegradationRule) async throws(Fault) -> AuthzToken {
        let ruleEnd = Timestamp(milliseconds: Int64(clamping: rule.endsAtMilliseconds))
        if let token = try await cached(question), token.degradationRule == nil || (token.degradationRule == rule.id && token.expiresAt <= ruleEnd) {
            return token
        }
        metrics.decided("permit", source: .degradation)
        let end = min(ruleEnd, clock.now() + configuredLifetime(question), question.session.expiresAt)
        return try await save(question, until: end, rule: rule.id)
    }

    private func tempPass(_ question: Question, _ context: CallContext) async throws(Fault) -> AuthzToken {
        let end: Timestamp
        do {
            end = try await tempPasses.spend(
                question.session, resource: question.resource, genericData: question.genericData, context: context)
        } catch {
            metrics.decided("deny", source: .tempPass)
            throw error
        }
        metrics.decided("permit", source: .tempPass)
        if let token = try await store.token(question.key), token.expiresAt == end, token.degradationRule == nil { return token }
        return try await save(question, until: end)
    }

    private func ask(
        _ question: Question, subject: DenialLimiter.Subject, context: CallContext
    ) async throws(Fault) -> MvpdDecision.Permit {
        let session = question.session
        let point = DecisionPoint(question.integration.mvpd)
        switch point.record.protocol {
        case .none:
            // Authenticated means authorized (mvpd §4.1).
            metrics.decided("permit", source: .dummy)
            return MvpdDecision.Permit()
        case .unrecognized: throw Fault(.unimplemented, "The MVPD's authorization protocol is not supported.")
        default: break
        }
        switch try await decision(of: point, question, context) {
        case .permit(let permit):
            metrics.decided("permit", by: question)
            logger.info("authz.permitted", metadata: AuthorizationService.fields(session, context))
            if permit.mustBeLogged { logger.notice("authz.transaction", metadata: AuthorizationService.fields(session, context)) }
            return permit
        case .deny(let denial):
            metrics.decided("deny", by: question)
            denials.record(denial, for: subject, attempt: context.idempotencyKey, now: clock.now())
            var fields = AuthorizationService.fields(session, context)
            fields["code"] = "\(denial.code)"
            logger.info("authz.denied", metadata: fields)
            throw denial.fault
        }
    }

    private func decision(
        of point: DecisionPoint, _ question: Question, _ context: CallContext
    ) async throws(Fault) -> MvpdDecision {
        let start = ContinuousClock.now
        defer { metrics.decisionPointAnswered(after: start.duration(to: .now)) }
        do throws(Fault) {
            let decision = try await client.decide(DecisionQuery(question.session, question.resource), at: point, context: context)
            metrics.count(question, .success(decision), after: start.duration(to: .now))
            return decision
        } catch {
            metrics.decided("error", by: question)
            metrics.count(question, .failure(error), after: start.duration(to: .now))
            var fields = AuthorizationService.fields(question.session, context)
            fields["code"] = "\(error.code)"
            fields["cause"] = "\(error.cause.map { "\($0)" } ?? "")"
            logger.warning("authz.mvpd_failed", metadata: fields)
            throw error
        }
    }

    private func configuredLifetime(_ question: Question) -> Duration {
        Catalogue.authzLifetime(question.integration.integration, question.integration.mvpd)
    }

    private func keep(_ permit: MvpdDecision.Permit, _ question: Question) async throws(Fault) -> AuthzToken {
        let now = clock.now()
        let mvpdExpiry = question.integration.mvpd.authzTtlFromMvpd ? permit.validUntil : nil
        let lifetime = DecisionLifetime(
            reauthorizeAfter: permit.reauthorizeAfter, mvpdExpiry: mvpdExpiry, configured: hasLifetime(question) ? configuredLifetime(question) : nil)
        guard let end = lifetime.end(now: now, sessionEnd: question.session.expiresAt), end > now else {
            throw Fault(.networkReceivedError, "The MVPD's answer cannot be used.", cause: DecisionPointError("no TTL that lasts from any source"))
        }
        return try await save(question, until: end)
    }

    /// An MVPD that is asked has to say how long its decisions hold, or its record does (mvpd §4.2); there is no common value.
    private func hasLifetime(_ question: Question) -> Bool {
        let (integration, mvpd) = question.integration
        return integration.authzTtlSeconds != 0 || mvpd.authzTtlSeconds != 0 || DecisionPoint(mvpd).record.protocol == .none
    }

    private func save(_ question: Question, until end: Timestamp, rule: String? = nil) async throws(Fault) -> AuthzToken {
        let session = question.session
        let token = AuthzToken(key: question.key, mvpd: session.mvpd, proxyMvpd: session.proxyMvpd, expiresAt: end, degradationRule: rule)
        try await store.save(token)
        return token
    }
}

/// The limiter of one process.
final class SharedDenialLimiter: Sendable {
    private let state = Mutex(DenialLimiter())

    func blocked(_ subject: DenialLimiter.Subject, now: Timestamp) -> Denial? {
        state.withLock { $0.blocked(subject, now: now) }
    }

    func record(_ denial: Denial, for subject: DenialLimiter.Subject, attempt: String?, now: Timestamp) {
        state.withLock { $0.record(denial, for: subject, attempt: attempt, now: now) }
    }
}
