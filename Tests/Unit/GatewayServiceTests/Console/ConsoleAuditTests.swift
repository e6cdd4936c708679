internal import Contracts
internal import Faults
@testable import GatewayAdministration
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

/// The audit log by person, action, entry and time, and as CSV (dashboard §4).
@Suite struct ConsoleAuditTests {
    private let console = ConsoleFixture()

    /// 2031-03-04 00:00 UTC.
    private static let day: UInt64 = 1_930_348_800_000

    /// A log of records an hour apart, newest first, served by pages as config does.
    private func answer(_ count: Int, _ change: @escaping @Sendable (inout AuditRecord, Int) -> Void = { _, _ in }) {
        console.gateway.administration.listAuditRecords.answer { request, _ in
            let (page, size) = (Int(request.page?.page ?? 1), Int(request.page?.size ?? 50))
            let numbers = stride(from: count - (page - 1) * size, to: max(0, count - page * size), by: -1)
            let records = numbers.map { number in
                var record = AuditRecord(
                    number: UInt64(number), createdAtMilliseconds: Self.day - UInt64(count - number) * 3_600_000,
                    author: number % 2 == 0 ? "ed" : "rita",
                    action: number % 3 == 0 ? "push" : "session_opened", text: "record \(number) of ACME1", version: number % 3 == 0 ? 7 : 0)
                change(&record, number)
                return record
            }
            return AuditPage(records: Array(records), total: UInt32(count), page: UInt32(page), size: UInt32(size))
        }
    }

    private func numbers(_ page: Reply) -> [Int] { page.text.matches(of: /data-label="Number">(\d+)</).compactMap { Int($0.1) } }

    @Test("each part of the filter narrows the log, and the form keeps it")
    func filters() async throws {
        answer(60)
        #expect(numbers(try await console.get("/audit?author=ed&action=push")) == [60, 54, 48, 42, 36, 30, 24, 18, 12, 6])
        let entry = try await console.get("/audit?entry=RECORD+42")
        #expect(numbers(entry) == [42] && entry.text.contains(#"name="entry" type="search" value="RECORD 42""#) && entry.text.contains("Show all"))
        #expect(numbers(try await console.get("/audit?from=2031-03-03&until=2031-03-03")) == Array((36...59).reversed()))
        #expect(numbers(try await console.get("/audit?until=2031-03-01")).first == 11)
        let none = try await console.get("/audit?author=nobody")
        #expect(none.text.contains("No record is like this.") && none.text.contains(#"<option value="rita">"#))
        for query in ["from=2031-02-30", "until=yesterday", "from=2031-03-04&until=2031-03-03"] {
            let refused = try await console.get("/audit?\(query)")
            #expect(refused.status == 400 && refused.text.contains("Parameter"), "\(query)")
        }
    }

    @Test("a page goes on where the last one stopped, and says how far it looked where little is found")
    func goesOn() async throws {
        answer(12_000) { record, number in if number == 3 || number == 11_000 { record.author = "ada" } }
        let first = try await console.get("/audit?author=ada")
        #expect(numbers(first) == [11_000] && first.text.contains("Records were looked through down to"))
        #expect(console.gateway.administration.listAuditRecords.requests.count == 25, "5,000 records at most")
        #expect(first.text.contains("/console/audit?author=ada&amp;before=7001"))
        let second = try await console.get("/audit?author=ada&before=7001")
        #expect(numbers(second) == [] && second.text.contains("before=2001"))
        let third = try await console.get("/audit?author=ada&before=2001")
        #expect(numbers(third) == [3] && !third.text.contains("Older") && third.text.contains("Newest"))
        let full = try await console.get("/audit?author=ed")
        #expect(numbers(full).count == 50 && full.text.contains("/console/audit?author=ed&amp;before=11902"))
        #expect(numbers(try await console.get("/audit?author=ed&before=11902")).first == 11_900)
    }

    @Test("the CSV has the same filter, is RFC 4180, and no cell begins as a formula")
    func exports() async throws {
        answer(3) { record, number in
            record.text = ["", "=1+1", "+a,\"b\"", "@x\r\ny"][number]
            record.author = number == 1 ? "-ed" : "Zoë"
            record.recordSha256 = "00"
        }
        let page = try await console.get("/audit?author=Zo%C3%AB")
        #expect(page.text.contains("/console/audit?author=Zo%C3%AB&amp;format=csv"))
        let csv = try await console.get("/audit?format=csv")
        #expect(csv.headers[.contentType] == "text/csv; charset=utf-8; header=present")
        #expect(csv.headers[.contentDisposition] == "attachment; filename=\"audit.csv\"")
        #expect(
            csv.text
                == "Number,Time,Who,Action,Text,Version,SHA-256\r\n3,2031-03-04T00:00:00Z,Zoë,push,\"'@x\r\ny\",7,00\r\n"
                + "2,2031-03-03T23:00:00Z,Zoë,session_opened,\"'+a,\"\"b\"\"\",,00\r\n1,2031-03-03T22:00:00Z,'-ed,session_opened,'=1+1,,00\r\n")
        #expect(
            try await console.get("/audit?author=Zo%C3%AB&action=push&format=csv").text.components("\r\n") == 3, "one of its lines has a break within"
        )
        #expect(console.gateway.administration.listAuditRecords.requests.allSatisfy { $0.token == ConsoleFixture.secret })
    }

    @Test("a file has at most 10,000 records, and says so in its last row")
    func isBounded() async throws {
        answer(10_000)
        #expect(try await !console.get("/audit?format=csv").text.contains("at most"))
        answer(10_001)
        let text = try await console.get("/audit?format=csv").text
        let rows = text.split(separator: "\r\n")
        #expect(rows.count == 10_002 && rows.last?.hasPrefix(",,,,A file has at most 10000 records. Older ones than 20") == true)
    }

    @Test("a service whose log has pages without end, or the same ones again, ends the search all the same")
    func anyPages() async throws {
        let same = (0..<200).map { _ in AuditRecord(number: 5, createdAtMilliseconds: Self.day, author: "ed") }
        console.gateway.administration.listAuditRecords.answer(with: AuditPage(records: same, total: .max, page: 1, size: 200))
        #expect(try await console.get("/audit?author=ed&before=9&until=2031-03-04").status == 200)
        #expect(console.gateway.administration.listAuditRecords.requests.count < 70)
        console.gateway.administration.listAuditRecords.answer(with: AuditPage(total: .max, page: .max, size: .max))
        #expect(try await console.get("/audit?author=ed&before=9").status == 200)
    }

    @Test("the administration API has the same filter and file")
    func api() async throws {
        answer(60)
        func administer(_ path: String) async throws -> Reply {
            try await console.gateway.administer(.get, path, nil, [.authorization: "Bearer \(ConsoleFixture.secret)"])
        }
        let found = try await administer("/audit?author=ed&action=push&size=4&page=3")
        #expect(found.json["total"] as? Int == 10 && (found.json["records"] as? [[String: Any]])?.map { $0["number"] as? Int } == [12, 6])
        #expect(found.json["complete"] as? Bool == true)
        #expect(try await administer("/audit").json["complete"] == nil)
        #expect(try await administer("/audit?entry=RECORD+42&format=csv").text.components("\r\n") == 2)
        #expect(try await administer("/audit?from=x").status == 400)
        #expect(try await administer("/audit?format=pdf").status == 400)
    }
}
