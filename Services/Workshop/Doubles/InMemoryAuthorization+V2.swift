internal import Catalogue
public import ContractRuntime
public import Contracts
internal import Faults

/// Decisions of REST v2, whose denials are a part of the answer.
extension InMemoryAuthorization {
    /// What a decision is made of.
    private struct Inquiry {
        let call: DeviceCall
        let subject: SessionSubject
        let session: Session
        let identity: String
        let parties: (integration: Integration, mvpd: Mvpd)

        var isOnTrial: Bool { session.kind == .tempPass }
        var source: DecisionSource { isOnTrial ? .tempPass : .dummy }
    }

    public func decide(_ request: DecideRequest, context: CallContext) async throws -> Decisions {
        var call = request.call ?? DeviceCall()
        call.api = .v2
        let found = try find(SessionRequest(call: call, mvpd: request.mvpd, identity: request.identity))
        var seen: Set<String> = []
        let resources = request.resources.filter { !$0.isEmpty && seen.insert($0).inserted }
        guard !resources.isEmpty else { throw Fault(.missingResource, "Required 'resource_id' is not present") }
        guard !resources.contains(where: { $0.utf8.contains { $0 < 0x20 } || $0.hasPrefix("<") && !$0.hasSuffix("</rss>") }) else {
            throw Fault(.malformedAuthzRequest, "The resource is malformed.")
        }
        let parties = try sessions.parties(request.mvpd, call)
        guard case .success(let subject) = found else {
            let code = if case .failure(let fault) = found { fault.code } else { Fault.Code.authenticationSessionMissing }
            return Decisions(decisions: resources.map { Self.refused($0, code, .mvpd) })
        }
        let inquiry = Inquiry(
            call: call, subject: subject, session: subject.session ?? Session(), identity: request.identity, parties: parties)
        let limit = request.isPreliminary ? Catalogue.preflightMaxResources(parties.integration, parties.mvpd) : Self.longestList
        if resources.count > limit, !(request.isPreliminary && inquiry.isOnTrial) {
            return Decisions(
                decisions: resources.map { Self.refused($0, .tooManyResources, inquiry.source, "At most \(limit) resources at once.") })
        }
        var decisions: [ResourceDecision] = []
        for resource in resources {
            let decision = try await request.isPreliminary ? preliminary(resource, inquiry) : final(resource, inquiry, context)
            decisions.append(decision)
        }
        return Decisions(decisions: decisions)
    }

    private func find(_ request: SessionRequest) throws(Fault) -> Result<SessionSubject, Fault> {
        do throws(Fault) {
            return .success(try sessions.findSessionNow(request))
        } catch {
            guard error.code == .authenticationSessionMissing || error.code == .authenticationSessionExpired else { throw error }
            return .failure(error)
        }
    }

    private func final(_ resource: String, _ inquiry: Inquiry, _ context: CallContext) async throws -> ResourceDecision {
        let (session, life) = (inquiry.session, Catalogue.authzLifetime(inquiry.parties.integration, inquiry.parties.mvpd))
        var end = min(session.expiresAtMilliseconds, sessions.now + UInt64(life.components.seconds) * 1000)
        var source = inquiry.source
        if let rule = rule(for: resource, inquiry) {
            guard rule.kind != .authzNone else { return Self.refused(resource, rule) }
            (source, end) = (.degradation, min(end, rule.endsAtMilliseconds))
        } else if inquiry.isOnTrial {
            do {
                end = try await sessions.spendTempPass(
                    SpendTempPassRequest(
                        deviceID: inquiry.call.deviceID, requestor: session.requestor, resource: resource, genericData: inquiry.identity,
                        mvpd: session.mvpd), context: context
                ).expiresAtMilliseconds
            } catch let fault as Fault where fault.code != .invalidTemporaryAccessConfiguration {
                return Self.refused(resource, fault.code, .tempPass)
            }
        } else if inquiry.subject.standsIn {
            return Self.refused(resource, .authenticationSessionMissing, inquiry.source)
        } else if denied.contains(resource) {
            return Self.refused(resource, .authorizationDeniedByMvpd, inquiry.source, "Denied by the double.")
        }
        return ResourceDecision(
            resource: resource, authorized: true, source: source, token: try await mediaToken(session, resource),
            expiresAtMilliseconds: source == .degradation ? end : keep(session, resource, until: end))
    }

    private func preliminary(_ resource: String, _ inquiry: Inquiry) -> ResourceDecision {
        if let trial = inquiry.subject.trial, trial.isOver || trial.isUsedUp {
            let code = trial.isOver ? Fault.Code.temporaryAccessDurationLimitExceeded : .temporaryAccessResourcesLimitExceeded
            return Self.refused(resource, code, .tempPass)
        }
        if let rule = rule(for: resource, inquiry) {
            return rule.kind == .authzNone
                ? Self.refused(resource, rule) : ResourceDecision(resource: resource, authorized: true, source: .degradation)
        }
        if inquiry.subject.standsIn, !inquiry.isOnTrial { return Self.refused(resource, .authenticationSessionMissing, inquiry.source) }
        if denied.contains(resource) { return Self.refused(resource, .preauthorizationDeniedByMvpd, inquiry.source) }
        return ResourceDecision(resource: resource, authorized: true, source: inquiry.source)
    }

    private func rule(for resource: String, _ inquiry: Inquiry) -> DegradationRule? {
        sessions.config.catalogue.degradation(
            requestor: inquiry.session.requestor, mvpd: inquiry.session.mvpd, platform: inquiry.call.device?.platform, resource: resource,
            now: sessions.clock.now())
    }

    private static func refused(_ resource: String, _ rule: DegradationRule) -> ResourceDecision {
        refused(resource, .authorizationDeniedByDegradationRule, .degradation, rule.message)
    }

    private static func refused(_ resource: String, _ code: Fault.Code, _ source: DecisionSource, _ details: String = "") -> ResourceDecision {
        ResourceDecision(resource: resource, source: source, refusal: ResourceRefusal(code: code.rawValue, details: details))
    }
}
