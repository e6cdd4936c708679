internal import Catalogue
public import ContractRuntime
public import Contracts
internal import Faults

extension AuthorizationService {
    /// Whether each of several resources may be watched at an MVPD, and media tokens for those that may (rest-v2 §2.9, §2.10).
    ///
    /// What concerns one resource, and that nobody is signed in, is a part of the answer; what concerns the call is a fault.
    public func decide(_ request: DecideRequest, context: CallContext) async throws -> Decisions {
        // A refusal must cost little: not the question to authentication.
        if !request.isPreliminary, let requestor = try catalogue.current().requestor(request.call?.requestor ?? "") {
            try mediaTokens.requireRoom(form: Self.form(requestor))
        }
        let found = try await sessions.find(request.call, mvpd: request.mvpd, identity: request.identity, context: context)
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

    /// What is asked, checked.
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

        /// Who decides where no rule does.
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
                session: session, resource: resource, integration: inquiry.partners, degradation: degradation, genericData: inquiry.identity)
            decisions.append(try await decision(question, inquiry, context))
        }
        return Decisions(decisions: decisions)
    }

    private func decision(_ question: DecisionMaker.Question, _ inquiry: Inquiry, _ context: CallContext) async throws(Fault) -> ResourceDecision {
        let (session, resource) = (question.session, question.resource)
        let permit: AuthzToken
        do throws(Fault) {
            permit = try await decisions.decide(question, context: context)
        } catch  where error.code.refusesResource {
            // Without the rule that let the device in nobody is there.
            let isAbsent = session.standsIn && error.code == .authenticationSessionExpired
            let code = isAbsent ? Fault.Code.authenticationSessionMissing : error.code
            return ResourceDecision(
                resource: resource.text, source: question.refuser(error.code),
                refusal: ResourceRefusal(code: code.rawValue, details: error.details ?? ""))
        }
        return ResourceDecision(
            resource: resource.text, authorized: true, source: permit.degradationRule == nil ? inquiry.source(session) : .degradation,
            token: try await mediaToken(for: permit, session, resource, inquiry.requestor, context),
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
