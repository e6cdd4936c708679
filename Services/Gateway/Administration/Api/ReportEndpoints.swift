internal import Contracts
internal import GatewayEdge
internal import Hummingbird

/// Tables of what integrations come to on each platform (dashboard §6).
struct ReportEndpoints: Sendable {
    private static let kinds: [String: ReportKind] = ["authn-ttl": .authnTtl, "authz-ttl": .authzTtl, "sso": .sso]

    let administration: any Administration

    @Sendable func show(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let name = try exchange.captured("report")
        guard let kind = Self.kinds[name] else { throw AdministrationError.notFound("There is no such report.") }
        let asTable = try Self.wantsTable(exchange)
        let request = GetReportRequest(
            token: token, kind: kind, requestorIDs: try Self.chosen("requestor", exchange), mvpdIDs: try Self.chosen("mvpd", exchange))
        let report = try await administration.getReport(request, context: exchange.call)
        return asTable ? Self.table(report, name: name) : Response(Self.document(report), format: .json)
    }

    /// Each value of a parameter that may be repeated.
    private static func chosen(_ name: String, _ exchange: Exchange) throws -> [String] {
        try exchange.all(name).filter { !$0.isEmpty }
    }

    private static func wantsTable(_ exchange: Exchange) throws -> Bool {
        switch try exchange.value("format") {
        case "csv": return true
        case "json": return false
        case nil: return exchange.headers[values: .accept].joined(separator: ",").lowercased().contains("text/csv")
        default: throw AdministrationError.badRequest("Parameter 'format' must be csv or json", field: "format")
        }
    }

    private static func document(_ report: CatalogueReport) -> Document {
        let rows = report.rows.map { row in
            Document.Value.object([
                .init("requestor", .text(row.requestorID)), .init("mvpd", .text(row.mvpdID)), .init("mvpdName", .text(row.mvpdName)),
                .init("values", .list(row.cells.map { .text($0) }, item: "value")),
            ])
        }
        return Document(
            "report", [.init("columns", .list(report.columns.map { .text($0) }, item: "column")), .init("rows", .list(rows, item: "row"))])
    }

    static func table(_ report: CatalogueReport, name: String) -> Response {
        var table = CommaSeparatedTable()
        table.append(["Requestor", "MVPD", "MVPD name"] + report.columns)
        for row in report.rows { table.append([row.requestorID, row.mvpdID, row.mvpdName] + row.cells) }
        var response = Response(text: table.text, type: "text/csv; charset=utf-8; header=present", cacheControl: "no-store")
        response.headers[.contentDisposition] = "attachment; filename=\"\(name).csv\""
        return response
    }
}

/// A table as CSV (RFC 4180) that no spreadsheet takes for formulas.
struct CommaSeparatedTable {
    private(set) var text = ""

    mutating func append(_ cells: [String]) {
        text += cells.map(Self.cell).joined(separator: ",") + "\r\n"
    }

    private static func cell(_ value: String) -> String {
        let harmless = value.unicodeScalars.first.map { "=+-@\t\r".unicodeScalars.contains($0) } == true ? "'" + value : value
        guard harmless.unicodeScalars.contains(where: { "\",\r\n".unicodeScalars.contains($0) }) else { return harmless }
        return "\"" + harmless.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
