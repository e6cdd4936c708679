internal import Contracts
internal import GatewayEdge
internal import Hummingbird

/// The record of administrators' changes, by person, action, entry and time, also as CSV (dashboard §4).
struct AuditLogPage: Sendable {
    static let path = Console.address("audit")
    private static let size = 50
    /// Authors that the field offers.
    private static let mostAuthors = 100

    let console: Console

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let filter = try AuditFilter(exchange)
        let search = AuditSearch(administration: console.administration, token: visitor.secret, filter: filter)
        if try exchange.value("format") == "csv" { return try await AuditTable.response(search, exchange) }
        var content = Self.content(filter)
        var window = filter.isEmpty ? "Audit log" : "Audit log, filtered"
        if filter.isEmpty {
            let page = try exchange.page().page
            let request = ListAuditRecordsRequest(token: visitor.secret, page: PageRequest(page: page, size: UInt32(Self.size)))
            let list = try await console.administration.listAuditRecords(request, context: exchange.call)
            content["records"] = list.records.map(Self.row)
            content["authors"] = Self.authors(list.records.map(\.author))
            content.merge(
                PagerContent(total: list.total, page: list.page, size: list.size) { Console.address("audit", query: ["page": "\($0)"]) }.content
            ) { own, _ in own }
            if page > 1 { window += ", page \(page)" }
        } else {
            let before = try exchange.value("before").flatMap(UInt64.init)
            let found = try await search.found(before: before, wanted: Self.size, most: AuditSearch.mostForPage, exchange)
            content["records"] = found.records.map(Self.row)
            content["authors"] = Self.authors(found.authors)
            content["isEmpty"] = found.records.isEmpty
            content["search"] = Self.end(found, filter, isFirst: before == nil)
            if let before { window += ", before \(before)" }
        }
        return await console.page("audit", "Audit log", window: window, in: .history, content, for: visitor, exchange)
    }

    /// Where the search stopped, and what goes on from there.
    private static func end(_ found: AuditSearch.Found, _ filter: AuditFilter, isFirst: Bool) -> [String: Any] {
        var end: [String: Any] = [:]
        if !isFirst { end["newestAddress"] = address(filter, before: nil) }
        if let stoppedAt = found.stoppedAt {
            end["olderAddress"] = address(filter, before: stoppedAt)
            if found.records.count < size { end["looked"] = ["lookedUntil": DisplayedTime(milliseconds: found.stoppedTime).text] }
        }
        return end
    }

    private static func content(_ filter: AuditFilter) -> [String: Any] {
        [
            "historyAddress": ConsolePlace.history.address, "auditAddress": path, "author": filter.author, "entry": filter.entry,
            "from": filter.from?.text ?? "", "until": filter.until?.text ?? "", "isFiltered": !filter.isEmpty,
            "actions": actions.map {
                ["actionWord": $0.word, "actionName": $0.name, "isAction": OctetText($0.word) == OctetText(filter.action)] as [String: Any]
            },
            "csvAddress": address(filter, before: nil, format: "csv"), "mostRows": "10,000",
        ]
    }

    private static func row(_ record: AuditRecord) -> [String: Any] {
        var row: [String: Any] = [
            "recordNumber": "\(record.number)", "recordedAt": DisplayedTime(milliseconds: record.createdAtMilliseconds).text,
            "recordAuthor": record.author, "recordText": record.text,
        ]
        if record.version > 0 {
            row["recordVersion"] = ["recordVersionText": "\(record.version)", "recordAddress": Console.address("history", "\(record.version)")]
        }
        return row
    }

    private static func authors(_ names: [String]) -> [String] {
        var seen: Set<OctetText> = []
        return Array(names.filter { seen.insert(OctetText($0)).inserted }.prefix(mostAuthors))
    }

    private static func address(_ filter: AuditFilter, before: UInt64?, format: String = "") -> String {
        Console.address(
            "audit",
            query: [
                "author": filter.author, "action": filter.action, "entry": filter.entry, "from": filter.from?.text ?? "",
                "until": filter.until?.text ?? "", "before": before.map { "\($0)" } ?? "", "format": format,
            ])
    }

    /// The actions that config records, in the words of people.
    private static let actions: [(word: String, name: String)] = [
        ("push", "Push"), ("push_proposed", "Push that waits for a second person"), ("push_declined", "Push that was turned down"),
        ("import", "Catalogue file"), ("degradation_started", "Degradation started"), ("degradation_renewed", "Degradation renewed"),
        ("degradation_ended", "Degradation ended"), ("temp_pass_reset", "TempPass reset"), ("viewer_support", "Support"),
        ("personal_data", "Personal data"), ("upstream_operated", "Upstream checked or reset"), ("sign_in_tested", "Test sign-in"),
        ("client_revoked", "Client revoked"), ("statement_downloaded", "Software statement downloaded"),
        ("statements_revoked", "Software statements revoked"), ("statement_key_retired", "Key of statements taken out"),
        ("secret_written", "Secret written"), ("secret_owner_set", "Secret given to a programmer"),
        ("certificate_confirmed", "Certificate taken though not valid"), ("proxied_mvpds_replaced", "List of proxied MVPDs replaced"),
        ("proxied_mvpds_dropped", "Most proxied MVPDs gone"), ("session_opened", "Session began"), ("session_ended", "Session ended"),
        ("audit_forgotten", "Old records removed"),
    ]
}
