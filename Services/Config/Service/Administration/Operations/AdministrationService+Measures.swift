internal import Catalogue
internal import CatalogueFiles
internal import Clocks
public import ContractRuntime
public import Contracts
internal import Faults
internal import Storage

/// Degradation rules by way of a registered application (clients §4.18).
extension AdministrationService {
    public func listDegradationMeasures(_ request: ListDegradationMeasuresRequest, context: CallContext) async throws -> DegradationRules {
        try await publisher.read { ledger in
            let scope = try MeasureScope(request.scope, in: ledger)
            let former = request.includesFormer ? try ledger.formerRules() : []
            return DegradationRules(rules: try (ledger.activeRules() + former).filter(scope.covers))
        }
    }

    public func applyDegradationMeasure(_ request: ApplyDegradationMeasureRequest, context: CallContext) async throws -> DegradationOutcome {
        try await degrade { ledger in
            let scope = try MeasureScope(request.scope, in: ledger)
            let span = request.ttlSeconds == 0 ? DegradationCheck.longest : .seconds(Int64(request.ttlSeconds))
            let start = StartDegradationRequest(
                kind: scope.kinds.count == 1 ? scope.kinds[0] : .unknown, requestorID: scope.requestor, mvpdIDs: scope.mvpds,
                resources: scope.resources, endsAtMilliseconds: UInt64(clamping: (ledger.now + span).milliseconds), message: request.message)
            let problems = DegradationCheck(
                request: start, catalogue: Catalogue(try ledger.newestConfiguration()), now: ledger.now
            ).problems
            if !problems.isEmpty { throw DocumentRejection.invalid(problems).fault }
            return try apply(start, by: scope.author, in: ledger)
        }
    }

    public func removeDegradationMeasures(
        _ request: RemoveDegradationMeasuresRequest, context: CallContext
    ) async throws -> DegradationRules {
        let removed = try await publisher.change { ledger in
            let scope = try MeasureScope(request.scope, in: ledger)
            let document = try ledger.newestDocument()
            return try ledger.activeRules().filter(scope.removes).map { active in
                var rest = active
                rest.rule?.resources.removeAll { scope.resources.contains($0) }
                if scope.resources.isEmpty || rest.rule?.resources.isEmpty == true {
                    try ledger.end(active)
                    try ledger.record(.degradationEnded, of: active, by: scope.author, "ended", in: document)
                } else {
                    try ledger.keep(rest)
                    try ledger.record(.degradationRenewed, of: active, by: scope.author, "for fewer resources", in: document)
                }
                return active
            }
        }
        for active in removed { logger.info("catalogue.degradation_ended", metadata: ["rule": "\(active.rule?.id ?? "")"]) }
        return DegradationRules(rules: removed)
    }

    /// A rule that says the same, but for its end and message, is renewed: whoever sends a rule again does not want two.
    private func apply(_ request: StartDegradationRequest, by author: String, in ledger: CatalogueLedger) throws -> [ActiveDegradation] {
        let document = try ledger.newestDocument()
        let known = try ledger.activeRules()
        return try request.mvpdIDs.map { mvpd in
            let rule = Self.rule(request, mvpd: mvpd, now: ledger.now)
            let twin = known.first { $0.rule.map { rule.isAbout($0) } ?? false }
            var active = twin ?? ActiveDegradation(rule: rule, author: author)
            active.rule?.endsAtMilliseconds = rule.endsAtMilliseconds
            active.rule?.message = rule.message
            try ledger.keep(active)
            try ledger.record(
                twin == nil ? .degradationStarted : .degradationRenewed, of: active, by: author,
                "until \(Self.moment(rule.endsAtMilliseconds))", in: document)
            return active
        }
    }
}

/// The measures that an application may name, and makes.
private struct MeasureScope {
    /// The scope that its clients need.
    static let needed = "decisions:owner"

    let author: String
    /// One, or all of the application's.
    let requestors: [String]
    let requestor: String
    let kinds: [DegradationKind]
    let mvpds: [String]
    let resources: [String]

    /// - Throws: `insufficient_scope`.
    init(_ scope: DegradationScope?, in ledger: CatalogueLedger) throws {
        let scope = scope ?? DegradationScope()
        let catalogue = Catalogue(try ledger.newestConfiguration())
        guard let application = catalogue.application(scope.applicationID), application.scopes.contains(Self.needed),
            application.programmerID == scope.programmerID
        else { throw Fault(.insufficientScope, "The application may not degrade this media company's MVPDs.") }
        guard scope.requestorID.isEmpty || application.requestorIDs.contains(scope.requestorID) else {
            throw Fault(.insufficientScope, "The application may not act for the requestor.")
        }
        author = AuditAuthor.application(application.id)
        requestors = scope.requestorID.isEmpty ? application.requestorIDs : [scope.requestorID]
        (requestor, kinds, mvpds, resources) = (scope.requestorID, scope.kinds, scope.mvpdIDs, scope.resources)
    }

    func covers(_ active: ActiveDegradation) -> Bool {
        guard let rule = active.rule else { return false }
        return isNamed(rule) && (resources.isEmpty || rule.resources.isEmpty || rule.resources.contains { resources.contains($0) })
    }

    /// A rule for every resource does not end because it is asked of one.
    func removes(_ active: ActiveDegradation) -> Bool {
        guard let rule = active.rule else { return false }
        return isNamed(rule) && (resources.isEmpty || rule.resources.contains { resources.contains($0) })
    }

    private func isNamed(_ rule: DegradationRule) -> Bool {
        requestors.contains(rule.requestorID) && (kinds.isEmpty || kinds.contains(rule.kind)) && (mvpds.isEmpty || mvpds.contains(rule.mvpdID))
    }
}

extension DegradationRule {
    fileprivate func isAbout(_ other: DegradationRule) -> Bool {
        kind == other.kind && requestorID == other.requestorID && mvpdID == other.mvpdID && platforms == other.platforms
            && Set(resources.map { OctetText($0) }) == Set(other.resources.map { OctetText($0) })
    }
}

extension AdministrationService {
    /// The first author of a reference is its owner; a reference that a version names, or a file has, stays (clients §2).
    public func authorizeSecret(_ request: AuthorizeSecretRequest, context: CallContext) async throws -> SecretOutcome {
        let rights = try await rights(request.token, .edit)
        guard CatalogueSyntax.isID(request.reference) else {
            throw Fault(.invalidRequest, "A reference has 1 to 128 letters, digits, '_' and '-'.")
        }
        let owner = try await owner(request, rights)
        do {
            try await publisher.write { ledger in
                if let known = request.known, known.isFile || known.programmerID != owner {
                    let holder = known.isFile ? try ledger.programmersOfFiles()[OctetText(known.reference)] ?? "" : known.programmerID
                    guard rights.isOperator || rights.administrator.programmerIDs.contains(holder) else { throw Fault.notFound("secret") }
                    guard !known.isFile else { throw DocumentRejection(.conflict, "A file has the reference, and is used in its place.").fault }
                    throw DocumentRejection(.conflict, "The reference is another programmer's; choose another one.").fault
                }
                guard try !ledger.hasEverNamed(secret: request.reference) else {
                    throw DocumentRejection(.conflict, "A version of the catalogue names the reference; write a new one, and push it.").fault
                }
                let programmers = owner.isEmpty ? [] : [owner]
                try ledger.record(.secretWritten, by: rights.name, "Secret written: \(request.reference)", programmers: programmers)
            }
            return SecretOutcome(outcome: .programmerID(owner))
        } catch {
            return SecretOutcome(outcome: .refusal(try error.refusalOrThrow()))
        }
    }

    public func listSecretOwners(_ request: ListSecretOwnersRequest, context: CallContext) async throws -> SecretOwners {
        let rights = try await rights(request.token, .read)
        return try await publisher.read { ledger in
            SecretOwners(owners: try ledger.fileOwners().filter { rights.isOperator || rights.sees(programmer: $0.programmer) }.map(\.contract))
        }
    }

    public func setSecretOwner(_ request: SetSecretOwnerRequest, context: CallContext) async throws -> SecretOwners {
        let rights = try await rights(request.token, .edit)
        guard rights.isOperator else { throw Fault.insufficientRole }
        let isKeyFile = request.reference.utf8.count <= 128 && !request.reference.isEmpty && CatalogueSyntax.isFileName(request.reference)
        guard isKeyFile || CatalogueSyntax.isID(request.reference) else {
            throw Fault(.invalidRequest, "A reference has 1 to 128 letters, digits, '_', '-' and, of key files, '.'.")
        }
        let owners = try await publisher.write { ledger in
            let (reference, programmer) = (request.reference, request.programmerID)
            let isKnown = try programmer.isEmpty || ledger.newestDocument()[EntityKey(.programmers, programmer)] != nil
            guard isKnown else {
                throw Fault.notFound("programmer")
            }
            try ledger.settleFileOwners()
            try ledger.keep(FileOwner(reference: reference, programmer: programmer, isOpen: false))
            let whose = programmer.isEmpty ? "operators'" : "\(programmer)'s"
            try ledger.record(
                .secretOwnerSet, by: rights.name, "The secret file \(reference) is \(whose)", programmers: programmer.isEmpty ? [] : [programmer])
            return try ledger.fileOwners()
        }
        logger.info("catalogue.secret_owner_set", metadata: ["reference": "\(request.reference)", "administrator": "\(rights.name)"])
        return SecretOwners(owners: owners.map(\.contract))
    }

    private func owner(_ request: AuthorizeSecretRequest, _ rights: Rights) async throws -> String {
        if rights.isOperator {
            let key = EntityKey(.programmers, request.programmerID)
            if key.id.isEmpty { return "" }
            guard try await publisher.read({ try $0.newestDocument()[key] != nil }) else { throw Fault.notFound("programmer") }
            return key.id
        }
        let own = rights.administrator.programmerIDs
        if request.programmerID.isEmpty, let only = own.first, own.count == 1 { return only }
        guard !request.programmerID.isEmpty else { throw Fault(.invalidRequest, "Say which programmer's secret it is.") }
        guard own.contains(request.programmerID) else { throw Fault.notFound("programmer") }
        return request.programmerID
    }
}

extension CatalogueLedger {
    /// With the octets that a document has somewhere.
    private static let naming = Statement(
        sqlite: "SELECT 1 FROM document WHERE instr(content, ?) > 0 LIMIT 1",
        postgres: "SELECT 1 FROM document WHERE position(? IN content) > 0 LIMIT 1")

    /// True when any version, the newest or an older one that may come back, names a secret.
    func hasEverNamed(secret reference: String) throws -> Bool {
        // Canonical JSON has no white space, and a reference nothing that is escaped.
        try CatalogueDocument.secretMembers.contains { name in
            try database.hasRow(Self.naming, [Array("\"\(name)\":\"\(reference)\"".utf8)])
        }
    }
}

extension FileOwner {
    fileprivate var contract: SecretOwner { SecretOwner(reference: reference, programmerID: programmer, isOpen: isOpen) }
}
