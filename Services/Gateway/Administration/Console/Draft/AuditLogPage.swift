internal import Contracts
internal import Hummingbird

/// Who did what (dashboard §4).
struct AuditLogPage: Sendable {
    private static let size: UInt32 = 50

    let console: Console

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let request = ListAuditRecordsRequest(token: visitor.secret, page: PageRequest(page: try exchange.page().page, size: Self.size))
        let list = try await console.administration.listAuditRecords(request, context: exchange.call)
        let rows = list.records.map { record -> [String: Any] in
            var row: [String: Any] = [
                "recordNumber": "\(record.number)", "recordedAt": Moment(milliseconds: record.createdAtMilliseconds).text,
                "recordAuthor": record.author, "recordText": record.text,
            ]
            if record.version > 0 {
                row["recordVersion"] = ["recordVersionText": "\(record.version)", "recordAddress": Console.address("history", "\(record.version)")]
            }
            return row
        }
        var content: [String: Any] = ["records": rows, "historyAddress": ConsolePlace.history.address]
        content.merge(
            PagerContent(total: list.total, page: list.page, size: list.size) { Console.address("audit", query: ["page": "\($0)"]) }.content
        ) { own, _ in own }
        return await console.page("audit", "Audit log", in: .history, content, for: visitor, exchange)
    }
}
