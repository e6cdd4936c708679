internal import Catalogue
public import ContractRuntime
public import Contracts
internal import Faults
internal import Tokens

/// Stands in for the authorization service: permits every resource that its behaviour does not deny, and signs media tokens.
public final class InMemoryAuthorization: Authorization {
    private struct Permit: Hashable, Sendable {
        let session: String
        let resource: String
    }

    private static let signingThreads = 2
    private static let waitingSignatures = 4096
    static let longestList = 100

    let sessions: InMemoryAuthentication
    private let keys: DoubleKeys
    let denied: Set<String>
    private let pool = SigningPool(threads: signingThreads, waitingLimit: waitingSignatures)
    private let issuer: MediaTokenIssuer?
    /// When each ends, milliseconds since 1970.
    private let permits = BoundedTable<Permit, UInt64>(capacity: 1_000_000)

    /// - Parameter sessions: Knows who is signed in.
    public init(sessions: InMemoryAuthentication, keys: DoubleKeys) {
        self.sessions = sessions
        self.keys = keys
        denied = sessions.behaviour.denied
        issuer =
            if let reference = keys.mediaToken, let jws = keys.mediaTokenJws {
                MediaTokenIssuer(
                    referenceKey: ReferenceSigningKey(reference), jwsKeys: SigningKeys(SigningKeyRing(current: jws)), pool: pool,
                    clock: sessions.clock)
            } else {
                nil
            }
    }

    deinit { pool.shutdown() }

    public func authorize(_ request: AuthorizeRequest, context: CallContext) async throws -> Decision {
        let (session, resource) = try session(request.call, request.resource)
        guard request.mvpd.isEmpty || request.mvpd == session.mvpd else {
            throw Fault(.authenticationSessionIssuerMismatch, "The session is another MVPD's.")
        }
        guard !denied.contains(resource) else { throw Fault(.authorizationDeniedByMvpd, "Denied.", details: "Denied by the double.") }
        let integration = try sessions.config.catalogue.requireIntegration(requestor: session.requestor, mvpd: session.mvpd)
        let end: UInt64
        if session.kind == .tempPass {
            let play = SpendTempPassRequest(
                sessionID: session.id, deviceID: request.call?.deviceID ?? "", requestor: session.requestor, resource: resource,
                genericData: request.genericData)
            end = try await sessions.spendTempPass(play, context: context).expiresAtMilliseconds
        } else {
            let life = Catalogue.authzLifetime(integration.integration, integration.mvpd)
            end = min(session.expiresAtMilliseconds, sessions.now + UInt64(life.components.seconds) * 1000)
        }
        let kept = keep(session, resource, until: end)
        var decision = decision(session, resource, until: kept)
        if request.wantsToken, let call = request.call, call.storedToken != nil {
            // The index and the resource; no key signs.
            decision.token = try sessions.subject(of: call).sessionIndex + " " + resource
        }
        return decision
    }

    public func getAuthorization(_ request: ResourceRequest, context: CallContext) async throws -> Decision {
        let (session, resource) = try session(request.call, request.resource)
        return decision(session, resource, until: try permit(session, resource))
    }

    public func issueMediaToken(_ request: ResourceRequest, context: CallContext) async throws -> MediaToken {
        var request = request
        if !request.authorizationToken.isEmpty {
            let parts = request.authorizationToken.split(separator: " ", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw Fault(.authenticationSessionMissing, "User not authenticated") }
            let mvpd = request.call?.storedToken?.mvpd ?? ""
            request.call?.storedToken = StoredToken(mvpd: mvpd, sessionIndex: parts[0])
            request.resource = parts[1]
        }
        let (session, resource) = try session(request.call, request.resource)
        _ = try permit(session, resource)
        return try await mediaToken(session, resource)
    }

    func mediaToken(_ session: Session, _ resource: String) async throws(Fault) -> MediaToken {
        guard let issuer else { throw Fault(.unimplemented, "The double has no keys for media tokens.") }
        let requestor = try sessions.config.catalogue.requireRequestor(session.requestor)
        let play = MediaTokenIssuer.Play(
            sessionGUID: session.userID, requestor: requestor.id, resource: resource, mvpd: session.mvpd,
            ttl: Catalogue.mediaTokenLifetime(requestor))
        let issued = try await issuer.issue(play, form: requestor.mediaTokenFormat == .jws ? .jws : .reference)
        return MediaToken(
            requestor: requestor.id, mvpd: session.mvpd, resource: resource, userID: session.userID,
            expiresAtMilliseconds: UInt64(issued.facts.expiresAt.milliseconds), serializedToken: issued.serialized,
            issuedAtMilliseconds: UInt64(issued.facts.issuedAt.milliseconds))
    }

    public func preauthorize(_ request: PreauthorizeRequest, context: CallContext) async throws -> Preauthorization {
        _ = try sessions.subject(of: request.call)
        return try verdicts(request.resources)
    }

    public func preauthorizeByCode(_ request: PreauthorizeByCodeRequest, context: CallContext) async throws -> Preauthorization {
        _ = try sessions.subject(
            byCode: SessionByCodeRequest(accessToken: request.accessToken, requestor: request.requestor, code: request.code))
        return try verdicts(request.resources)
    }

    public func listFailingDecisionPoints(
        _ request: ListFailingDecisionPointsRequest, context: CallContext
    ) async throws -> FailingDecisionPoints { throw Fault(.unimplemented, "The double asks no decision point.") }

    public func findRefusals(_ request: FindRefusalsRequest, context: CallContext) async throws -> SessionRefusals {
        throw Fault(.unimplemented, "No refusals are kept here.")
    }

    public func exportPerson(_ request: PersonSessions, context: CallContext) async throws -> PersonRecords {
        throw Fault(.unimplemented, "The double looks for nobody.")
    }

    public func erasePerson(_ request: PersonSessions, context: CallContext) async throws -> ErasedRecords {
        throw Fault(.unimplemented, "The double looks for nobody.")
    }

    public func getMediaTokenKeys(_ request: GetMediaTokenKeysRequest, context: CallContext) async throws -> MediaTokenKeys {
        MediaTokenKeys(
            certificates: keys.mediaTokenCertificates, jwks: JSONWebKeySet(keys: keys.mediaTokenJws.map { [$0.publicKey] } ?? []).json)
    }

    private func session(_ call: DeviceCall?, _ resource: String) throws(Fault) -> (Session, String) {
        let subject = try sessions.subject(of: call)
        guard !resource.isEmpty else { throw Fault(.missingResource, "Required 'resource' is not present") }
        return (subject.session ?? Session(), resource)
    }

    /// Keeps a permit until its end; one that is kept goes on.
    func keep(_ session: Session, _ resource: String, until end: UInt64) -> UInt64 {
        let moment = sessions.now
        return permits.change(Permit(session: session.id, resource: resource)) { kept in
            if kept ?? 0 <= moment { kept = end }
            return kept ?? end
        }
    }

    private func permit(_ session: Session, _ resource: String) throws(Fault) -> UInt64 {
        guard !denied.contains(resource), let end = permits[Permit(session: session.id, resource: resource)] else {
            throw Fault(.authorizationNotFound, "Not Found")
        }
        guard end > sessions.now else { throw Fault(.authorizationExpired, "Gone") }
        return end
    }

    private func decision(_ session: Session, _ resource: String, until end: UInt64) -> Decision {
        Decision(
            requestor: session.requestor, mvpd: session.mvpd, proxyMvpd: session.proxyMvpd, resource: resource, expiresAtMilliseconds: end)
    }

    private func verdicts(_ list: ResourceList?) throws(Fault) -> Preauthorization {
        guard let list else { throw Fault(.missingResource, "Required 'resource' is not present") }
        var seen: Set<String> = []
        let sent = list.items.isEmpty ? list.text.split(separator: ",").map { $0.trimmingPrefix { $0 == " " } }.map { String($0) } : list.items
        let ids = sent.filter { seen.insert($0).inserted }
        guard !ids.isEmpty else { throw Fault(.missingResource, "Required 'resource' is not present") }
        guard ids.count <= Self.longestList else { throw Fault(.tooManyResources, "At most \(Self.longestList) resources.") }
        return Preauthorization(
            resources: ids.map { id in
                PreauthorizedResource(
                    id: id, authorized: !denied.contains(id),
                    refusal: denied.contains(id) ? ResourceRefusal(code: "preauthorization_denied_by_mvpd") : nil)
            })
    }
}

/// Decisions of REST v2, whose denials are a part of the answer.
extension InMemoryAuthorization {
    /// The parts of which a decision is made.
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
