public import ContractRuntime
public import Contracts
internal import Clocks
internal import Logging

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

    /// Removes audit records whose time is over, once an hour, until the task is cancelled.
    /// - Parameter days: How long they are kept.
    public func forgetAudit(after days: Int) async {
        repeat { _ = try? await forgetAuditOnce(after: days) } while (try? await Task.sleep(for: .seconds(3600))) != nil
    }

    /// One round of that.
    /// - Returns: How many records were removed.
    /// - Throws: Faults of the store.
    @discardableResult
    public func forgetAuditOnce(after days: Int) async throws -> Int {
        let removed = try await publisher.write { try $0.forgetAudit(before: $0.now - .seconds(days * 86_400)) }
        if removed > 0 { logger.notice("audit.forgotten", metadata: ["records": "\(removed)"]) }
        return removed
    }
}
