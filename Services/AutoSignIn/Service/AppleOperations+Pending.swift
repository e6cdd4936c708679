internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Storage

/// Stands where Sign in with Apple will be: nobody has a link yet.
struct PendingApple: AppleOperations, OutboxCourier {
    func links(of account: AccountID) async throws(Fault) -> [AppleLink] { [] }

    func validate(_ link: AppleLinkID, _ context: CallContext) async throws(Fault) -> AppleSessionState { throw Self.missing }

    func revoke(_ link: AppleLinkID, reason: String) async throws(Fault) -> Bool { false }

    func exchangeTransfer(_ request: ExchangeTransferRequest, _ context: CallContext) async throws(Fault) -> ExchangedTransfer {
        throw Self.missing
    }

    func importTransfers(_ request: ImportTransfersRequest) async throws(Fault) -> Int { throw Self.missing }

    func forget(_ account: AccountID, in database: Database, _ touched: inout Touched, now: Timestamp) throws {}

    func deliver(_ item: OutboxItem) async -> DeliveryOutcome { .unreachable }

    private static let missing = Fault(.unimplemented, "Sign in with Apple is not offered yet.")
}
