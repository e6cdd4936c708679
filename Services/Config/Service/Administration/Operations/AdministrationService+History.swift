public import ContractRuntime
public import Contracts

extension AdministrationService {
    public func listAuditRecords(_ request: ListAuditRecordsRequest, context: CallContext) async throws -> AuditPage {
        let rights = try await rights(request.token, .read)
        let page = try Page(request.page)
        let (entries, total) = try await publisher.read { try $0.auditEntries(for: rights, page) }
        return AuditPage(records: entries.map(\.contract), total: UInt32(clamping: total), page: page.number, size: page.size)
    }

    public func verifyHistory(_ request: VerifyHistoryRequest, context: CallContext) async throws -> HistoryVerdict {
        _ = try await rights(request.token, .verifyHistory)
        return try await publisher.read { try $0.verdict(readingDocuments: true) }
    }
}
