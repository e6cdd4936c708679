internal import Clocks
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// The records of the audit log that are asked for (dashboard §4). A filter is a part of the address, for pages and for the API alike.
struct AuditFilter: Sendable {
    /// A day in UTC, as `2026-11-30`.
    struct Day: Sendable {
        let text: String
        /// Milliseconds since 1970 at its beginning.
        let start: UInt64

        var end: UInt64 { start + 86_400_000 }

        /// - Returns: `nil` for what is no day since 1970.
        init?(_ text: String) {
            let parts = text.split(separator: "-", omittingEmptySubsequences: false)
            guard text.utf8.count == 10, parts.map(\.utf8.count) == [4, 2, 2], text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2d }),
                let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2]),
                let date = CivilDate(year: year, month: month, day: day), date.daysSince1970 >= 0
            else { return nil }
            self.text = text
            start = UInt64(date.daysSince1970) * 86_400_000
        }
    }

    /// Octets of a part that are compared.
    private static let longest = 512

    /// The name of the author, to the letter; empty: any.
    let author: String
    /// As `AuditRecord.action`; empty: any.
    let action: String
    /// Part of the record's sentence, such as the id of an entry; upper and lower case of ASCII are the same; empty: any.
    let entry: String
    /// The first and the last day.
    let from: Day?
    let until: Day?

    /// - Throws: 400 naming the parameter.
    init(_ exchange: Exchange) throws {
        author = try Self.text("author", exchange)
        action = try Self.text("action", exchange)
        entry = try Self.text("entry", exchange)
        from = try Self.day("from", exchange)
        until = try Self.day("until", exchange)
        if let from, let until, until.start < from.start {
            throw AdministrationError.badRequest("Parameter 'until' must not be before 'from'", field: "until")
        }
    }

    var isEmpty: Bool { author.isEmpty && action.isEmpty && entry.isEmpty && from == nil && until == nil }

    func takes(_ record: AuditRecord) -> Bool {
        (author.isEmpty || OctetText(record.author) == OctetText(author)) && (action.isEmpty || OctetText(record.action) == OctetText(action))
            && (from.map { record.createdAtMilliseconds >= $0.start } ?? true) && (until.map { record.createdAtMilliseconds < $0.end } ?? true)
            && (entry.isEmpty || Self.folded(record.text).firstRange(of: Self.folded(entry)) != nil)
    }

    private static func folded(_ text: String) -> [UInt8] { text.utf8.map { (0x41...0x5a).contains($0) ? $0 + 0x20 : $0 } }

    private static func text(_ name: String, _ exchange: Exchange) throws -> String {
        let text = (try exchange.value(name) ?? "").trimmed
        guard text.utf8.count <= longest else {
            throw AdministrationError.badRequest("Parameter '\(name)' must have at most \(longest) octets", field: name)
        }
        return text
    }

    private static func day(_ name: String, _ exchange: Exchange) throws -> Day? {
        let text = (try exchange.value(name) ?? "").trimmed
        guard !text.isEmpty else { return nil }
        guard let day = Day(text) else {
            throw AdministrationError.badRequest("Parameter '\(name)' must be a day in UTC, such as 2026-11-30", field: name)
        }
        return day
    }
}

/// Looks through the audit log, newest first, by the pages that config has of it: each reader's are what is theirs. How much it looks through is
/// bounded, and it says where it stopped.
struct AuditSearch: Sendable {
    /// Records that one call brings: the most that config gives.
    private static let chunk: UInt32 = 200
    /// Rows of a CSV.
    static let mostRows = 10_000
    /// Records that a CSV looks through; a sparse filter of a long log goes on from where it stopped.
    static let mostForFile = 100_000
    /// Records that a page looks through.
    static let mostForPage = 5_000

    let administration: any Administration
    let token: String
    let filter: AuditFilter

    struct Found: Sendable {
        var records: [AuditRecord] = []
        /// The number of the oldest record that was looked at, where older ones were not; `nil`: all were.
        var stoppedAt: UInt64?
        /// When that was, in milliseconds since 1970.
        var stoppedTime: UInt64 = 0
        /// Who acted in what was looked at, newest first.
        var authors: [String] = []
    }

    /// - Parameters:
    ///   - before: Records from this number on are left out; `nil`: none.
    ///   - wanted: The search ends with so many records.
    ///   - most: It ends when it has looked at so many.
    func found(before: UInt64? = nil, wanted: Int, most: Int, _ exchange: Exchange) async throws -> Found {
        var found = Found()
        var seen: Set<OctetText> = []
        var last = before ?? .max
        var looked = 0
        var page = try await firstPage(before, exchange)
        // A service that counts as it likes ends too.
        for _ in 0...(most / Int(Self.chunk) + 1) {
            let list = try await list(page, Self.chunk, exchange)
            let isEnd = list.records.count < Int(Self.chunk) || UInt64(page) * UInt64(Self.chunk) >= UInt64(list.total)
            for record in list.records where record.number < last {
                guard filter.from.map({ record.createdAtMilliseconds >= $0.start }) ?? true else { return found }
                if seen.insert(OctetText(record.author)).inserted { found.authors.append(record.author) }
                if filter.takes(record) { found.records.append(record) }
                (last, looked) = (record.number, looked + 1)
                guard found.records.count < wanted, looked < most else {
                    let isLast = isEnd && record.number == list.records.last?.number
                    if !isLast { (found.stoppedAt, found.stoppedTime) = (last, record.createdAtMilliseconds) }
                    return found
                }
            }
            if isEnd { return found }
            page += 1
        }
        found.stoppedAt = last == .max ? nil : last
        return found
    }

    private func list(_ page: UInt32, _ size: UInt32, _ exchange: Exchange) async throws -> AuditPage {
        let request = ListAuditRecordsRequest(token: token, page: PageRequest(page: page, size: size))
        return try await administration.listAuditRecords(request, context: exchange.partialCall())
    }

    /// The page with the newest record that is wanted: numbers and times fall from page to page, so it is found in a few steps.
    private func firstPage(_ before: UInt64?, _ exchange: Exchange) async throws -> UInt32 {
        guard before != nil || filter.until != nil else { return 1 }
        let total = try await list(1, 1, exchange).total
        var (first, end): (UInt32, UInt32) = (0, total)
        while first < end {
            let middle = first + (end - first) / 2
            let record = try await list(middle + 1, 1, exchange).records.first
            let isWanted = record.map { ($0.number < before ?? .max) && $0.createdAtMilliseconds < filter.until?.end ?? .max } ?? true
            if isWanted { end = middle } else { first = middle + 1 }
        }
        return first / Self.chunk + 1
    }
}

/// The audit log as CSV.
enum AuditTable {
    /// Of a page or an API call: what was found, and a last row where that is not all.
    static func response(_ search: AuditSearch, _ exchange: Exchange) async throws -> Response {
        let found = try await search.found(wanted: AuditSearch.mostRows, most: AuditSearch.mostForFile, exchange)
        var table = CommaSeparatedTable()
        table.append(["Number", "Time", "Who", "Action", "Text", "Version", "SHA-256"])
        for record in found.records {
            table.append([
                "\(record.number)", DisplayedTime.iso(milliseconds: record.createdAtMilliseconds), record.author, record.action, record.text,
                record.version == 0 ? "" : "\(record.version)", record.recordSha256,
            ])
        }
        if found.stoppedAt != nil { table.append(["", "", "", "", end(found), "", ""]) }
        var response = Response(text: table.text, type: "text/csv; charset=utf-8; header=present", cacheControl: "no-store")
        response.headers[.contentDisposition] = "attachment; filename=\"audit.csv\""
        return response
    }

    private static func end(_ found: AuditSearch.Found) -> String {
        let reason =
            found.records.count == AuditSearch.mostRows
            ? "A file has at most \(AuditSearch.mostRows) records." : "A file looks through at most \(AuditSearch.mostForFile) records."
        return "\(reason) Older ones than \(DisplayedTime.iso(milliseconds: found.stoppedTime)) are not in it: ask for them by an earlier last day."
    }
}
