internal import Catalogue
internal import CatalogueFiles
internal import Clocks
public import ContractRuntime
public import Contracts
public import Faults
internal import Foundation
internal import OutboundHttp
internal import SamlProfile

extension AdministrationService {
    public func listDegradationRules(_ request: ListDegradationRulesRequest, context: CallContext) async throws -> DegradationRules {
        let rights = try await rights(request.token, .read)
        return try await publisher.read { ledger in
            let document = try ledger.newestDocument()
            return DegradationRules(rules: try ledger.activeRules().filter { rights.sees($0, in: document) })
        }
    }

    public func startDegradation(_ request: StartDegradationRequest, context: CallContext) async throws -> DegradationOutcome {
        let rights = try await rights(request.token, .degrade)
        return try await degrade { ledger in
            let requestor = EntityKey(.requestors, request.requestorID)
            let document = try ledger.newestDocument()
            guard document[requestor] != nil, rights.sees(requestor, in: document) else { throw Fault.notFound("requestor") }
            let problems = DegradationCheck(
                request: request, catalogue: Catalogue(try ledger.newestConfiguration()), now: ledger.now
            ).problems
            if !problems.isEmpty { throw DocumentRejection.invalid(problems).fault }
            return try request.mvpdIDs.map { mvpd in
                let rule = Self.rule(request, mvpd: mvpd, now: ledger.now)
                let active = ActiveDegradation(rule: rule, author: rights.name, reason: request.reason)
                try ledger.keep(active)
                try ledger.record(.degradationStarted, of: active, by: rights.name, "until \(Self.moment(rule.endsAtMilliseconds))", in: document)
                return active
            }
        }
    }

    public func renewDegradation(_ request: RenewDegradationRequest, context: CallContext) async throws -> DegradationOutcome {
        let rights = try await rights(request.token, .degrade)
        return try await degrade { ledger in
            var (active, document) = try visible(request.id, rights, ledger)
            if let problem = DegradationCheck.end(request.endsAtMilliseconds, now: ledger.now) { throw DocumentRejection.invalid([problem]).fault }
            active.rule?.endsAtMilliseconds = request.endsAtMilliseconds
            try ledger.keep(active)
            try ledger.record(
                .degradationRenewed, of: active, by: rights.name, "until \(Self.moment(request.endsAtMilliseconds))", in: document)
            return [active]
        }
    }

    public func endDegradation(_ request: EndDegradationRequest, context: CallContext) async throws -> EndDegradationResponse {
        let rights = try await rights(request.token, .degrade)
        try await publisher.change { ledger in
            let (active, document) = try visible(request.id, rights, ledger)
            try ledger.end(active)
            try ledger.record(.degradationEnded, of: active, by: rights.name, "ended", in: document)
        }
        logger.info("catalogue.degradation_ended", metadata: ["rule": "\(request.id)", "administrator": "\(rights.name)"])
        return EndDegradationResponse()
    }

    /// Removes and records the rules whose time is over; services stopped minding them at that moment by themselves.
    public func endOverdueDegradations() async throws(Fault) {
        // Every change ends them.
        try await publisher.change { _ in }
    }

    /// Ends rules when their time is over, until the task is cancelled.
    public func endDegradationsInTime() async {
        while !Task.isCancelled {
            do throws(Fault) {
                if hasOverdueDegradations { try await endOverdueDegradations() }
            } catch {
                logger.error("catalogue.degradation_not_ended", metadata: ["error": "\(error)"])
            }
            try? await Task.sleep(for: .seconds(1))
        }
    }

    /// True when a rule that services have is past its end.
    public var hasOverdueDegradations: Bool {
        let now = UInt64(clamping: publisher.now.milliseconds)
        return publisher.published.configuration.degradationRules.contains { $0.endsAtMilliseconds <= now }
    }

    func degrade(_ body: @escaping @Sendable (CatalogueLedger) throws -> [ActiveDegradation]) async throws -> DegradationOutcome {
        do {
            let rules = try await publisher.change(body)
            for active in rules {
                logger.info("catalogue.degradation", metadata: ["rule": "\(active.rule?.id ?? "")", "administrator": "\(active.author)"])
            }
            return DegradationOutcome(outcome: .started(DegradationRules(rules: rules)))
        } catch {
            return DegradationOutcome(outcome: .refusal(try error.refusalOrThrow()))
        }
    }

    private func visible(_ id: String, _ rights: Rights, _ ledger: CatalogueLedger) throws -> (ActiveDegradation, CatalogueDocument) {
        let document = try ledger.newestDocument()
        guard let active = try ledger.rule(id), rights.sees(active, in: document) else { throw Fault.notFound("degradation rule") }
        return (active, document)
    }

    static func rule(_ request: StartDegradationRequest, mvpd: String, now: Timestamp) -> DegradationRule {
        DegradationRule(
            id: UUID().uuidString.lowercased(), kind: request.kind, requestorID: request.requestorID, mvpdID: mvpd, resources: request.resources,
            platforms: request.platforms, startsAtMilliseconds: UInt64(clamping: now.milliseconds), endsAtMilliseconds: request.endsAtMilliseconds,
            message: request.message)
    }

    static func moment(_ milliseconds: UInt64) -> String {
        Date(timeIntervalSince1970: Double(milliseconds / 1000)).formatted(.iso8601)
    }
}

extension Rights {
    fileprivate func sees(_ active: ActiveDegradation, in document: CatalogueDocument) -> Bool {
        sees(EntityKey(.requestors, active.rule?.requestorID ?? ""), in: document)
    }
}

// Two steps, so that no key is trusted that nobody has compared (mvpd §2.7). Nothing is kept between them: the second carries the document again.
extension AdministrationService {
    public func reviewProviderMetadata(
        _ request: ReviewProviderMetadataRequest, context: CallContext
    ) async throws -> ProviderMetadata {
        _ = try await writer(request.token, .mvpd, isReplacement: true)
        do throws(Fault) {
            if request.address.isEmpty { return try review(request.document).contract }
            return try await reviewFetched(request.address)
        } catch {
            // An unreadable document has nothing to show but the reason.
            return ProviderMetadata(problems: try error.refusalOrThrow().problems)
        }
    }

    public func importProviderMetadata(_ request: ImportProviderMetadataRequest, context: CallContext) async throws -> EntityOutcome {
        let (rights, section) = try await writer(request.token, .mvpd, isReplacement: !request.ifMatch.isEmpty)
        return try await edit {
            let provider = try ProviderImport(try review(request.document), confirmed: request.fingerprints, expired: request.confirmedCertificates)
            let others = request.entryJson.isEmpty ? nil : try EntityText.object(request.entryJson, field: "entry")
            let key = EntityKey(section, request.mvpdID)
            return { ledger in
                let editing = DraftEditing(ledger: ledger, rights: rights, confirmedCertificates: request.confirmedCertificates)
                let former = try ledger.draft(of: rights).document[key]
                let entry = provider.entry(request.mvpdID, from: former, with: others)
                if former == nil, request.ifMatch.isEmpty { return try editing.create(key, entry) }
                return try editing.replace(key, with: entry, ifMatch: request.ifMatch)
            }
        }
    }

    /// - Throws: A `DocumentRejection` as its cause, when there is no document that can be read.
    private func reviewFetched(_ address: String) async throws(Fault) -> ProviderMetadata {
        guard let fetch else { throw DocumentRejection.invalid("address", "cannot be used: this copy fetches nothing").fault }
        let found: DocumentFetch.Document
        do throws(DocumentFetch.Refusal) {
            found = try await fetch.document(at: address)
        } catch {
            logger.info("catalogue.metadata_not_fetched", metadata: ["reason": "\(error)"])
            throw DocumentRejection.invalid("address", EntityText.shortened("\(error)")).fault
        }
        let text: String
        do throws(MetadataText.Rejection) {
            text = try MetadataText.text(of: found.body)
        } catch {
            throw DocumentRejection.invalid("address", "leads to a document that \(error.message)").fault
        }
        if let discovery = ProviderDiscovery(text, from: found.url) { return discovery.contract }
        var metadata = try review(text).contract
        metadata.document = text
        return metadata
    }

    /// - Throws: A `DocumentRejection` as its cause, when the document cannot be read.
    private func review(_ document: String) throws(Fault) -> ProviderReview {
        do throws(SamlRejection) {
            return ProviderReview(metadata: try IdentityProviderMetadata(document: document), now: publisher.now)
        } catch {
            throw DocumentRejection.invalid("metadata", "cannot be read. \(error.explanation)").fault
        }
    }
}

extension AdministrationService {
    /// By the rights and the rules of a push: what somebody could not push, they cannot try out either.
    public func prepareTestSignIn(_ request: PrepareTestSignInRequest, context: CallContext) async throws -> TestSignInPreparation {
        let rights = try await rights(request.token, .edit)
        let secrets = request.secrets ?? SecretInventory()
        let body: @Sendable (CatalogueLedger) throws -> TestSignInPlan = { ledger in
            let draft = try ledger.draft(of: rights)
            let key = EntityKey(.integrations, "\(request.requestorID)/\(request.mvpdID)")
            guard draft.document[key] != nil, rights.sees(key, in: draft.document) else { throw Fault.notFound("integration") }
            let changes = draft.changes
            guard rights.mayMakeAll(of: draft, in: try ledger.newestDocument()) else { throw Fault.insufficientRole }
            let configuration = try DocumentCheck.configuration(of: draft.document, ledger, for: rights)
            let parties = try TestParties(request, in: configuration)
            let named = changes.filter { parties.keys.contains($0.key) }
            let problems = try ledger.secretRules(secrets, rights).problems(named, from: try ledger.newestDocument(), to: draft.document)
            if !problems.isEmpty { throw DocumentRejection.invalid(problems).fault }
            let source = changes.isEmpty ? "version \(draft.base.version)" : "the draft"
            try ledger.record(
                .signInTested, by: rights.name, "Test sign-in for \(request.requestorID) at \(request.mvpdID), by \(source)",
                programmers: [parties.requestor.programmerID])
            return TestSignInPlan(configuration: parties.configuration, draftEtag: changes.isEmpty ? "" : draft.etag)
        }
        do {
            await publisher.rehearse(body)
            return TestSignInPreparation(outcome: .plan(try await publisher.write(body)))
        } catch {
            return TestSignInPreparation(outcome: .refusal(try error.refusalOrThrow()))
        }
    }
}

/// Requestor, MVPD and integration of a sign-in, and the proxy that the MVPD is behind.
private struct TestParties {
    let requestor: Requestor
    private let integration: Integration
    private let mvpds: [Mvpd]

    /// - Throws: A `DocumentRejection` as its cause when nobody signs in there.
    init(_ request: PrepareTestSignInRequest, in configuration: Configuration) throws(Fault) {
        guard let requestor = configuration.requestors.first(where: { OctetText($0.id) == OctetText(request.requestorID) }),
            let mvpd = configuration.mvpds.first(where: { OctetText($0.id) == OctetText(request.mvpdID) }),
            var integration = configuration.integrations.first(where: {
                OctetText($0.requestorID) == OctetText(request.requestorID) && OctetText($0.mvpdID) == OctetText(request.mvpdID)
            })
        else { throw Fault.notFound("integration") }
        guard integration.bridge == nil else {
            throw DocumentRejection.invalid("", "is served by an upstream: the sign-in there is not of this draft").fault
        }
        let proxy = mvpd.isProxied ? configuration.mvpds.first { OctetText($0.id) == OctetText(mvpd.proxyMvpdID) } : nil
        switch mvpd.signIn ?? proxy?.signIn {
        case .saml, .oauth: break
        case .tempPass: throw DocumentRejection.invalid("", "is a TempPass: nobody signs in at it").fault
        case nil: throw DocumentRejection.invalid("", "has neither saml nor oauth: nobody signs in at it").fault
        }
        // An integration that is to be switched on after the test can be tried before.
        integration.enabled = true
        self.requestor = requestor
        self.integration = integration
        mvpds = [mvpd] + (proxy.map { [$0] } ?? [])
    }

    var configuration: Configuration {
        Configuration(version: 1, requestors: [requestor], mvpds: mvpds, integrations: [integration])
    }

    /// The entries whose changes are tried.
    var keys: Set<EntityKey> {
        Set(mvpds.map { EntityKey(.mvpds, $0.id) } + [EntityKey(.integrations, "\(integration.requestorID)/\(integration.mvpdID)")])
    }
}
