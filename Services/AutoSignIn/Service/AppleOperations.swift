internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Storage

/// What Sign in with Apple does for other parts of the service.
protocol AppleOperations: Sendable {
    /// The person's links, oldest first.
    func links(of account: AccountID) async throws(Fault) -> [AppleLink]
    /// Asks Apple whether the link's session goes on, at most once a day (apple §2.5).
    /// - Throws: `not_found`.
    func validate(_ link: AppleLinkID, _ context: CallContext) async throws(Fault) -> AppleSessionState
    /// Ends the link here, and the authorization at Apple through the outbox.
    /// - Returns: False when there is no such link.
    func revoke(_ link: AppleLinkID, reason: String) async throws(Fault) -> Bool
    /// apple §2.10.
    func exchangeTransfer(_ request: ExchangeTransferRequest, _ context: CallContext) async throws(Fault) -> ExchangedTransfer
    /// - Returns: How many identifiers were taken in.
    func importTransfers(_ request: ImportTransfersRequest) async throws(Fault) -> Int
    /// In the commit that closes an account: forgets its links, and leaves a letter of kind `revoke` for each refresh token.
    func forget(_ account: AccountID, in database: Database, _ touched: inout Touched, now: Timestamp) throws
}
