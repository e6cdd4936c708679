internal import Catalogue
public import ContractRuntime
public import Contracts
internal import CoreMetrics
internal import Faults
internal import Memos
public import OutboundHttp
internal import Storage
internal import StrictJson
internal import UsageCounting

extension AuthorizationService {
    /// Decides whether each of several resources may be watched at an MVPD, and makes media tokens for those that may (rest-v2 §2.9, §2.10).
    ///
    /// The answer has the errors of one resource, and the lack of a signed-in person. Errors of the call are faults.
    public func decide(_ request: DecideRequest, context: CallContext) async throws -> Decisions {
        // A refusal must cost little: not the question to authentication.
        if !request.isPreliminary, let requestor = try catalogue.current().requestor(request.call?.requestor ?? "") {
            try mediaTokens.requireRoom(form: Self.form(requestor))
        }
        let visit = decisions.visit(request, in: try catalogue.current())
        let found = try await sessions.find(request.call, mvpd: request.mvpd, identity: request.identity, visit: visit, context: context)
        let resources = try RequestedResources(each: request.resources).items
        let catalogue = try catalogue.current()
        let requestor = try catalogue.requireRequestor(request.call?.requestor ?? "")
        let partners = try catalogue.requireIntegration(requestor: requestor.id, mvpd: request.mvpd, platform: request.call?.device?.platform)
        let inquiry = Inquiry(requestor: requestor, partners: partners, resources: resources, identity: request.identity)
        switch found {
        case .failure(let fault): return inquiry.all(refusedWith: fault.code, source: .mvpd)
        case .success(let session) where request.isPreliminary:
            return try await preliminary(inquiry, session, degradation(session, catalogue), context)
        case .success(let session): return try await final(inquiry, session, degradation(session, catalogue), context)
        }
    }

    /// The checked question.
    private struct Inquiry: Sendable {
        let requestor: Requestor
        let partners: DecisionMaker.Partners
        let resources: [RequestedResource]
        let identity: String

        func all(refusedWith code: Fault.Code, source: DecisionSource, details: String = "") -> Decisions {
            Decisions(
                decisions: resources.map { resource in
                    ResourceDecision(
                        resource: resource.text, source: source, refusal: ResourceRefusal(code: code.rawValue, details: details))
                })
        }

        /// The source of the decision where no rule decides.
        func source(_ session: SessionAtHand) -> DecisionSource { session.decider(partners.mvpd) }
    }

    // MARK: To play

    private func final(
        _ inquiry: Inquiry, _ session: SessionAtHand, _ degradation: Degradation, _ context: CallContext
    ) async throws(Fault) -> Decisions {
        guard inquiry.resources.count <= resourcesPerDecision else { return tooMany(inquiry, session, limit: resourcesPerDecision, context) }
        var decisions: [ResourceDecision] = []
        for resource in inquiry.resources {
            let question = DecisionMaker.Question(
                session: session, resource: resource, integration: inquiry.partners, degradation: degradation, genericData: inquiry.identity,
                takesMedia: true)
            decisions.append(try await decision(question, inquiry, context))
        }
        return Decisions(decisions: decisions)
    }

    private func decision(_ question: DecisionMaker.Question, _ inquiry: Inquiry, _ context: CallContext) async throws(Fault) -> ResourceDecision {
        let (session, resource) = (question.session, question.resource)
        let ruling: DecisionMaker.Ruling
        do throws(Fault) {
            ruling = try await decisions.decide(question, context: context)
        } catch  where error.code.refusesResource {
            // Without the rule that let the device in nobody is there.
            let isAbsent = session.standsIn && error.code == .authenticationSessionExpired
            let code = isAbsent ? Fault.Code.authenticationSessionMissing : error.code
            return ResourceDecision(
                resource: resource.text, source: question.refuser(error.code),
                refusal: ResourceRefusal(code: code.rawValue, details: error.details ?? ""))
        }
        let permit = ruling.permit
        return ResourceDecision(
            resource: resource.text, authorized: true, source: permit.degradationRule == nil ? inquiry.source(session) : .degradation,
            token: try await mediaToken(for: permit, session, resource, inquiry.requestor, taken: ruling.media, context),
            expiresAtMilliseconds: UInt64(clamping: permit.expiresAt.milliseconds))
    }

    // MARK: To know beforehand

    private func preliminary(
        _ inquiry: Inquiry, _ session: SessionAtHand, _ degradation: Degradation, _ context: CallContext
    ) async throws(Fault) -> Decisions {
        if let trial = session.trial, trial.isOver { return inquiry.all(refusedWith: .temporaryAccessDurationLimitExceeded, source: .tempPass) }
        if let trial = session.trial, trial.isUsedUp { return inquiry.all(refusedWith: .temporaryAccessResourcesLimitExceeded, source: .tempPass) }
        if session.standsIn, !session.isTempPass { return excused(inquiry, degradation) }
        let limit = Catalogue.preflightMaxResources(inquiry.partners.integration, inquiry.partners.mvpd)
        guard session.isTempPass || inquiry.resources.count <= limit else { return tooMany(inquiry, session, limit: limit, context) }
        let answer = try await preauthorizer.preauthorize(
            inquiry.resources, session, integration: inquiry.partners, degradation: degradation, context: context)
        let isPermittedByRule = degradation.permits(inquiry.resources)
        return Decisions(
            decisions: zip(inquiry.resources, answer.resources).map { resource, item in
                let isOfRule = degradation.effect(on: resource) != nil || item.authorized && isPermittedByRule
                return ResourceDecision(
                    resource: item.id, authorized: item.authorized, source: isOfRule ? .degradation : inquiry.source(session),
                    refusal: item.refusal)
            })
    }

    /// Nobody is signed in, and a rule permits something.
    private func excused(_ inquiry: Inquiry, _ degradation: Degradation) -> Decisions {
        let isPermitted = degradation.permits(inquiry.resources)
        return Decisions(
            decisions: inquiry.resources.map { resource in
                if case .blocked(let rule) = degradation.effect(on: resource) {
                    let denial = Denial(rule)
                    return ResourceDecision(
                        resource: resource.text, source: .degradation,
                        refusal: ResourceRefusal(code: denial.code.rawValue, details: denial.details ?? ""))
                }
                if isPermitted { return ResourceDecision(resource: resource.text, authorized: true, source: .degradation) }
                return ResourceDecision(
                    resource: resource.text, refusal: ResourceRefusal(code: Fault.Code.authenticationSessionMissing.rawValue))
            })
    }

    /// An item for each: a client takes a missing one for "free to all" (clients §4.6).
    private func tooMany(_ inquiry: Inquiry, _ session: SessionAtHand, limit: Int, _ context: CallContext) -> Decisions {
        if tooManyResources.isDue(now: clock.now()) {
            var fields = Self.fields(session, context)
            (fields["asked"], fields["limit"]) = ("\(inquiry.resources.count)", "\(limit)")
            logger.warning("decision.too_many_resources", metadata: fields)
        }
        return inquiry.all(
            refusedWith: .tooManyResources, source: inquiry.source(session), details: "At most \(limit) resources may be asked for at once.")
    }
}

/// The service's records about the person of some sessions. Permits lead from a session to its row, and not back: they stay, and lead to nobody
/// without it.
extension AuthorizationService {
    private static let mostSessions = 10_000

    public func exportPerson(_ request: PersonSessions, context: CallContext) async throws -> PersonRecords {
        let refusals = try await refusals?.find(try Self.sessions(request)) ?? []
        let rows = refusals.map { refusal in
            JsonWriter.object { row in
                row.member("session", refusal.session)
                row.member("code", refusal.code)
                row.member("source", Int64(refusal.source.rawValue))
                row.member("refused_at_ms", refusal.at.milliseconds)
            }.text
        }
        return PersonRecords(tables: rows.isEmpty ? [] : [PersonTable(name: "refusals", rows: rows)], remainders: [Self.permits])
    }

    public func erasePerson(_ request: PersonSessions, context: CallContext) async throws -> ErasedRecords {
        let erased = try await refusals?.erase(try Self.sessions(request)) ?? 0
        store.forgetMemory()
        return ErasedRecords(
            tables: erased == 0 ? [] : [ErasedTable(name: "refusals", rows: UInt32(clamping: erased))], remainders: [Self.permits])
    }

    private static func sessions(_ request: PersonSessions) throws(Fault) -> [String] {
        guard request.sessionIDs.count <= mostSessions else {
            throw Fault(.invalidRequest, "At most \(mostSessions) sessions may be named at once.")
        }
        return request.sessionIDs
    }

    private static let permits = PersonRemainder(
        name: "authz_tokens",
        reason: "digests of a session's random id with device and resource: without the session nobody can tell whose they were",
        end: "a day after the permit's end")
}

/// The contents of the settings' files for questions to MVPDs, and for answers of upstreams.
public struct AuthorizationCredentials: Sendable {
    /// As whom MVPDs are asked in the SOAP form.
    public let identity: DecisionIdentity
    /// The certificates for decision points, by the names that the catalogue's records use.
    public let clientCertificates: ClientCertificates.Loaded
    public let upstreamTokens: UpstreamTokenCheck

    /// - Parameter path: Makes a path of the settings absolute.
    /// - Throws: `MediaTokenKeyError` naming the setting and what is wrong with its files.
    public init(_ settings: AuthorizationSettings, path: (String) -> String) throws(MediaTokenKeyError) {
        identity = try DecisionIdentity(settings, path: path)
        clientCertificates = try settings.loadClientCertificates(path: path)
        upstreamTokens = try settings.loadUpstreamTokenCheck(path: path)
    }
}

/// The service's metrics (labels are bounded: no resource, no device).
struct AuthorizationMetrics: Sendable {
    /// A decision came from one of these places.
    enum Source: String, Sendable {
        case cache, mvpd, dummy, degradation, cutOff = "cut_off", tempPass = "temp_pass"
    }

    /// For reports of usage.
    let usage: UsageCounter

    private struct Decision: Hashable {
        let result: String
        let source: Source
    }

    private let factory: any MetricsFactory
    /// By MVPD.
    private let mvpds: MvpdCounter
    private let decisionPointSeconds: Timer
    private let mediaTokens: Counter
    /// Found by their labels once: that takes longer than a decision from the cache.
    private let decisions = Memo<Decision, Counter>(capacity: 256)
    private let partialPreauthorizations: Counter
    private let fullPreauthorizations: Counter
    private let foreignTokens: Counter
    private let ratingFailures: Counter

    /// - Parameters:
    ///   - mvpds: Counts decisions by MVPD.
    ///   - factory: Keeps the numbers.
    init(usage: UsageCounter, mvpds: MvpdCounter, factory: any MetricsFactory) {
        func preauthorizations(_ result: String) -> Counter {
            Counter(label: "boxoffice_authorization_preauthorizations_total", dimensions: [("result", result)], factory: factory)
        }
        self.usage = usage
        self.mvpds = mvpds
        self.factory = factory
        decisionPointSeconds = Timer(label: "boxoffice_authorization_decision_point_seconds", factory: factory)
        mediaTokens = Counter(label: "boxoffice_authorization_media_tokens_total", factory: factory)
        partialPreauthorizations = preauthorizations("partial")
        fullPreauthorizations = preauthorizations("full")
        foreignTokens = Counter(label: "boxoffice_authorization_foreign_tokens_total", factory: factory)
        ratingFailures = Counter(label: "boxoffice_authorization_rating_refresh_failures_total", factory: factory)
    }

    func decided(_ result: String, source: Source) {
        decisions.value(Decision(result: result, source: source)) {
            Counter(
                label: "boxoffice_authorization_decisions_total", dimensions: [("result", result), ("source", source.rawValue)], factory: factory)
        }.increment()
    }

    /// The MVPD was asked.
    /// - Parameter result: `permit`, `deny`, or `error`: there was no usable answer.
    func decided(_ result: String, by question: DecisionMaker.Question) {
        decided(result, source: .mvpd)
        let verdict: MvpdCounter.Result = result == "error" ? .bad : .good
        if let bridge = question.session.bridge {
            mvpds.count(verdict, upstream: bridge.upstream)
        } else {
            mvpds.count(verdict, mvpd: question.integration.mvpd.id)
        }
    }

    func decisionPointAnswered(after span: Duration) {
        decisionPointSeconds.recordNanoseconds(span.components.seconds * 1_000_000_000 + span.components.attoseconds / 1_000_000_000)
    }

    func preauthorized(isPartial: Bool) {
        (isPartial ? partialPreauthorizations : fullPreauthorizations).increment()
    }

    /// Another house's permit, or a changed one.
    func foreignToken() { foreignTokens.increment() }

    func issuedMediaToken() { mediaTokens.increment() }

    /// Authentication did not take the parental limits that came with a permit.
    func keptOldRatings() { ratingFailures.increment() }
}
