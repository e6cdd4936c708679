internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Logging
internal import Storage

/// What the rest of the service asks of Sign in with Apple.
struct AppleOperationsOfLinks: AppleOperations {
    let parts: AppleParts

    func links(of account: AccountID) async throws(Fault) -> [AppleLink] {
        try await parts.store.store.read { try $0.appleLinks(of: account).map { AppleLink($0) } }
    }

    func validate(_ link: AppleLinkID, _ context: CallContext) async throws(Fault) -> AppleSessionState {
        try await AppleSessionChecks(parts: parts).check(link)
    }

    func revoke(_ link: AppleLinkID, reason: String) async throws(Fault) -> Bool {
        let now = parts.now()
        let wasKnown = try await parts.store.change { database, touched in
            guard let record = try database.appleLink(link) else { return false }
            try database.withdraw(record, &touched, now: now)
            // The tokens have gone into letters; what is left is that the consent is over.
            try database.consentEnded(record, group: nil, &touched, now: now)
            return true
        }
        if wasKnown {
            parts.base.parts.logger.notice("apple.link_revoked", metadata: ["link": "\(link)"])
            parts.base.outbox.wake()
        }
        return wasKnown
    }

    func exchangeTransfer(_ request: ExchangeTransferRequest, _ context: CallContext) async throws(Fault) -> ExchangedTransfer {
        try await AppleTransfers(parts: parts).exchange(request)
    }

    func importTransfers(_ request: ImportTransfersRequest) async throws(Fault) -> Int {
        try await AppleTransfers(parts: parts).take(request)
    }

    func forget(_ account: AccountID, in database: Database, _ touched: inout Touched, now: Timestamp) throws {
        for link in try database.appleLinks(of: account) {
            try database.withdraw(link, &touched, now: now)
            try database.remove(link.id)
        }
        try database.removeTransfers(of: account)
    }
}
