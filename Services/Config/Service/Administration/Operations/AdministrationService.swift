public import ContractRuntime
public import Contracts
internal import Faults
public import Logging
public import OutboundHttp

/// The operations of `boxoffice.config.v1.Administration`.
public struct AdministrationService: Administration {
    let publisher: CataloguePublisher
    let roll: AdministratorRoll
    let statements: StatementSigner
    let isApprovalRequired: Bool
    /// Certificate names that may open sessions for people who signed in elsewhere.
    let sessionCallers: Set<String>
    let logger: Logger
    let keeper: CatalogueKeeper?
    let fetch: DocumentFetch?
    let drafts = DraftMemory()

    /// - Parameters:
    ///   - isApprovalRequired: Whether a push waits for a second person (dashboard §4).
    ///   - sessionCallers: Certificate names that may open sessions for people who signed in at an identity provider; empty: nobody has such a session.
    ///   - keeper: Of the catalogue file, which administrators may have taken in again; `nil`: there is none.
    ///   - fetch: Gets MVPDs' metadata from where they publish it; `nil`: nothing is fetched.
    public init(
        publisher: CataloguePublisher, roll: AdministratorRoll, statements: StatementSigner, isApprovalRequired: Bool, logger: Logger,
        sessionCallers: Set<String> = [], keeper: CatalogueKeeper? = nil, fetch: DocumentFetch? = nil
    ) {
        self.publisher = publisher
        self.roll = roll
        self.statements = statements
        self.isApprovalRequired = isApprovalRequired
        self.logger = logger
        self.sessionCallers = sessionCallers
        self.keeper = keeper
        self.fetch = fetch
    }

    public func register(in registry: inout some MethodRegistry) { AdministrationMethods.register(self, in: &registry) }

    /// - Throws: `access_denied`, or `insufficient_role`.
    func rights(_ token: String, _ action: Rights.Action) async throws(Fault) -> Rights {
        let rights = Rights(administrator: try await administrator(token))
        try rights.require(action)
        return rights
    }

    public func getAdministrator(_ request: GetAdministratorRequest, context: CallContext) async throws -> Administrator {
        try await administrator(request.token)
    }
}

extension Fault {
    /// The refusal that the fault carries; any other fault is thrown on.
    func refusalOrThrow() throws(Fault) -> Refusal {
        guard let refusal else { throw self }
        return refusal
    }
}
