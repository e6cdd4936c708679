public import ContractRuntime
public import Contracts
internal import Faults
internal import Tokens

extension AdministrationService {
    public func listStatementKeys(_ request: ListStatementKeysRequest, context: CallContext) async throws -> StatementKeyList {
        _ = try await rights(request.token, .revokeStatement)
        return StatementKeyList(keys: try await publisher.read { try $0.statementKeys().map(\.contract) })
    }

    public func retireStatementKey(_ request: RetireStatementKeyRequest, context: CallContext) async throws -> StatementKeyList {
        let rights = try await rights(request.token, .revokeStatement)
        let keys = try await publisher.change { ledger in
            try ledger.retireStatementKey(request.keyID)
            try ledger.record(.statementKeyRetired, by: rights.name, "Key of software statements \(request.keyID) taken out", programmers: [])
            return try ledger.statementKeys()
        }
        logger.info("catalogue.statement_key_retired", metadata: ["key": "\(request.keyID)", "administrator": "\(rights.name)"])
        return StatementKeyList(keys: keys.map(\.contract))
    }
}

extension PublishedKey {
    fileprivate var contract: StatementKey {
        StatementKey(
            id: name, publishedSinceMilliseconds: UInt64(clamping: since.milliseconds),
            retiredAtMilliseconds: UInt64(clamping: retiredAt?.milliseconds ?? 0))
    }
}
