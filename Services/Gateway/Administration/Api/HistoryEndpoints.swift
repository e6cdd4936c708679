internal import Contracts
internal import GatewayEdge
internal import Hummingbird

/// Who administrates, and who did what (dashboard §4).
struct HistoryEndpoints: Sendable {
    let administration: any Administration

    @Sendable func administrator(_ exchange: Exchange) async throws -> Response {
        let request = GetAdministratorRequest(token: try exchange.administrator())
        let administrator = try await administration.getAdministrator(request, context: exchange.call)
        return Response(
            Document(
                "administrator",
                [
                    .init("name", .text(administrator.name)), .init("role", .text(administrator.role.word)),
                    .init("programmers", .list(administrator.programmerIDs.map { .text($0) }, item: "programmer")),
                    .init("rights", .list(administrator.rights.map { .text($0) }, item: "right")),
                ]), format: .json)
    }

    @Sendable func audit(_ exchange: Exchange) async throws -> Response {
        let request = ListAuditRecordsRequest(token: try exchange.administrator(), page: try exchange.page())
        let page = try await administration.listAuditRecords(request, context: exchange.call)
        return Response(
            AdministrationDocuments.page("records", page.records.map(Self.record), total: page.total, page: page.page, size: page.size),
            format: .json)
    }

    @Sendable func verify(_ exchange: Exchange) async throws -> Response {
        let request = VerifyHistoryRequest(token: try exchange.administrator())
        let verdict = try await administration.verifyHistory(request, context: exchange.call)
        return Response(
            Document(
                "verdict",
                [
                    .init("intact", .flag(verdict.isIntact)), .init("problems", .list(verdict.problems.map { .text($0) }, item: "problem")),
                    .init("versions", .number(verdict.versions)), .init("auditRecords", .number(verdict.auditRecords)),
                ]), format: .json)
    }

    private static func record(_ record: AuditRecord) -> Document.Value {
        .object([
            .init("number", .number(record.number)), .init("createdAt", .number(record.createdAtMilliseconds)),
            .init("author", .text(record.author)), .init("action", .text(record.action)), .init("text", .text(record.text)),
            .init("version", record.version == 0 ? .null : .number(record.version)), .init("recordSha256", .text(record.recordSha256)),
        ])
    }
}
