internal import Catalogue
internal import CatalogueFiles
internal import Clocks
public import ContractRuntime
public import Contracts
public import Faults
internal import Foundation

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
            if !problems.isEmpty { throw Refused.invalid(problems).fault }
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
            if let problem = DegradationCheck.end(request.endsAtMilliseconds, now: ledger.now) { throw Refused.invalid([problem]).fault }
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
