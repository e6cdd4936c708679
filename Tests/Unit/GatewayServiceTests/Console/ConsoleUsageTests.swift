internal import Clocks
internal import Contracts
internal import Faults
internal import Foundation
@testable import GatewayAdministration
@testable import GatewayEdge
internal import Hummingbird
internal import ManualClocks
internal import Testing

/// How much the cluster is used, hour by hour, day by day, month by month.
@Suite struct ConsoleUsageTests {
    /// 1 December 2026, 20:30 UTC: 12:30 in Los Angeles.
    private static let now = Timestamp(seconds: 1_796_157_000)
    private static let counts: [UInt64] = [10, 8, 2, 5, 4, 1, 503, 7]

    let console = ConsoleFixture(wall: ManualClock(Self.now))

    private static func row(_ values: String..., times: UInt64 = 1) -> UsageRow { UsageRow(values: values, counts: counts.map { $0 * times }) }

    private static func report(_ rows: [UsageRow]) -> UsageReport { UsageReport(metrics: UsageSums.metrics, rows: rows) }

    private func answer(_ rows: @escaping @Sendable (UsageQuery) throws -> [UsageRow]) {
        console.gateway.usage.queryUsage.answer { query, _ in
            if query.path == ["year"] { return Self.report([Self.row("2026", "<script>"), Self.row("2025", "<script>")]) }
            return Self.report(try rows(query))
        }
    }

    private static func window(_ period: UsageView.Period, zone: Int = 0) -> UsageWindow { UsageWindow(period, now: now, zone: zone) }

    @Test("days are those of UTC though they are counted in another zone, on an axis over the whole time")
    func draws() async throws {
        answer { _ in [Self.row("2026", "11", "28", "15"), Self.row("2026", "11", "28", "16"), Self.row("2026", "12", "01", "00")] }
        let page = try await console.get("/usage").text
        #expect(page.components("<svg") == 5 && page.contains("Sign-ins per day from 2026-11-02 to 2026-12-01: signed in 24, failed 6"))
        #expect(page.components("<th scope=\"row\">2026-") == 30 && page.contains("<th scope=\"row\">2026-11-02</th><td>0</td>"))
        for day in ["2026-11-28", "2026-11-29", "2026-12-01"] { #expect(page.contains("<th scope=\"row\">\(day)</th><td>10</td>"), "\(day)") }
        #expect(page.contains("80 %") && page.contains(">101</td>") && page.contains("<th scope=\"col\">Day (UTC)</th>"))
        #expect(page.contains("<bdi>&lt;script&gt;</bdi></th><td>20</td>") && !page.contains("style=") && !page.contains("US Pacific"))
        #expect(
            page.contains(">11-02</text>") && page.contains(">12-01</text>") && page.contains(">100 %</text>")
                && page.contains("Average time of a decision, in ms"))
        #expect(page.utf8.count < 90_000)
        let queries = console.gateway.usage.queryUsage.requests
        #expect(Set(queries.map(\.start)) == ["2026-11-02T00:00:00Z"] && queries.map(\.path).contains(["year", "month", "day", "hour"]))
        let csv = try await console.get("/usage?period=month&format=csv").text
        #expect(csv.hasPrefix("Day (UTC),Sign-ins begun,Signed in,Failed,") && csv.contains("2026-11-28,10,8,2,80 %,5,4,1,80 %,101,7\r\n"))
        #expect(csv.components("\r\n") == 31)
    }

    @Test("hours are told in UTC, or in a zone of whole hours that is chosen; a zone that is none is refused")
    func zones() async throws {
        answer { _ in [Self.row("2026", "12", "01", "11")] }
        let universal = try await console.get("/usage?period=day").text
        #expect(universal.contains("<th scope=\"row\">2026-12-01 19:00</th><td>10</td>") && universal.contains("Hours are UTC."))
        #expect(universal.contains("<th scope=\"row\">2026-11-30 21:00</th>") && universal.components("<th scope=\"row\">2026-") == 24)
        let east = try await console.get("/usage?period=day&zone=9").text
        #expect(east.contains("<th scope=\"row\">2026-12-02 04:00</th><td>10</td>") && east.contains("<th scope=\"col\">Hour (UTC+9)</th>"))
        #expect(east.contains(#"<option value="9" selected>UTC+9</option>"#))
        #expect(try await console.get("/usage?period=day&zone=-5&format=csv").text.contains("2026-12-01 14:00,10,"))
        #expect(try await console.get("/usage?period=month&zone=9").text.contains("<th scope=\"col\">Day (UTC)</th>"))
        for bad in ["15", "-13", "1.5", "CET"] { #expect(try await console.get("/usage?period=day&zone=\(bad)").status == 400, "\(bad)") }
    }

    @Test("months are of UTC as far as the hours before them are kept; the page says of which they are not")
    func months() async throws {
        // On the last day of October half came after midnight UTC; the hours of earlier months' ends are gone.
        answer { query in
            guard query.path.count == 4 else {
                return [Self.row("2026", "05", "31", times: 4), Self.row("2026", "10", "31", times: 6), Self.row("2026", "11", "01")]
            }
            return query.start == "2026-10-31" ? [Self.row("2026", "10", "31", "09", times: 3), Self.row("2026", "10", "31", "17", times: 3)] : []
        }
        let page = try await console.get("/usage?period=year").text
        #expect(page.contains("<th scope=\"row\">2026-10</th><td>30</td>") && page.contains("<th scope=\"row\">2026-11</th><td>40</td>"))
        #expect(page.contains("<th scope=\"row\">2026-05</th><td>40</td>") && page.contains("Up to 2026-06 they begin at midnight US Pacific"))
        #expect(page.components("<th scope=\"row\">20") == 12 && page.contains("<th scope=\"row\">2026-01</th>"))
        let edges = console.gateway.usage.queryUsage.requests.filter { $0.path.count == 4 }
        #expect(Set(edges.map { "\($0.start) \($0.end)" }) == ["2026-09-30 2026-10-01", "2026-10-31 2026-11-01", "2026-11-30 2026-12-01"])
    }

    @Test("hours that are too many to add up give way to days as they are counted, and the page says so")
    func fallsBack() async throws {
        console.gateway.usage.queryUsage.answer { query, _ in
            guard !query.start.hasSuffix("Z") else { throw Fault(.invalidRequest, "too much") }
            return query.path == ["year"] ? Self.report([]) : Self.report([Self.row("2026", "11", "30")])
        }
        let page = try await console.get("/usage").text
        #expect(page.contains("<th scope=\"row\">2026-11-30</th><td>10</td>") && page.contains("they begin at midnight US Pacific"))
        #expect(try await console.get("/usage?period=day").status == 400)
    }

    @Test("dashboard #40: who is bound to programmers gets their numbers alone")
    func isBound() async throws {
        answer { _ in [Self.row("2026", "11", "28", "15")] }
        _ = try await console.get("/usage?mvpd=NorthCable&by=platform")
        let requests = console.gateway.usage.queryUsage.requests
        #expect(requests.count == 2 && requests.allSatisfy { $0.requestorIDs == ["ACME1", "ACME2"] })
        let own = UsageFilter(dimension: "mvpd", values: ["NorthCable"])
        #expect(Set(requests.map { $0.filters.map(\.dimension) }) == [["mvpd"], ["mvpd", "platform"]])
        #expect(requests.allSatisfy { $0.filters[0] == own })
        #expect(try await console.get("/usage?requestor=BRAVO").status == 404)
        console.gateway.usage.queryUsage.answer(with: Self.report([]))
        let nothing = try await console.get("/usage?requestor=ACME1").text
        #expect(nothing.contains("Nothing was counted") && !nothing.contains("<svg"))
    }

    @Test(
        "a service that counts as it likes stops no process",
        arguments: [
            ["9223372036854775807", "12", "31", "23"], ["-9223372036854775808", "1", "1", "0"], ["2026", "11", "28", "9223372036854775807"],
            ["2026", "11", "28", "-9223372036854775808"], ["2026", "9223372036854775807", "28", "1"], ["0", "0", "0", "0"],
            ["2026", "11", "28", "13"], ["x", "1", "1", "1"], [],
        ])
    func anyCounts(values: [String]) async throws {
        for period in UsageView.Period.allCases {
            for length in 0...4 {
                let row = UsageRow(values: Array(values.prefix(length)), counts: UsageSums.metrics.map { _ in .max })
                let report = UsageReport(metrics: UsageSums.metrics, rows: [row, row])
                let series = UsageSeries(report, in: Self.window(period, zone: 14), edges: [report])
                for chart in UsageChart.all(per: "day") { #expect(!chart.content(series).isEmpty) }
            }
        }
    }

    @Test("percentages and averages are rounded to the nearest")
    func rounds() {
        func sums(_ counts: UInt64...) -> UsageSums {
            var sums = UsageSums()
            sums.add(counts, UsageSums.metrics)
            return sums
        }
        let large = sums(.max, .max - 1, 1, 3, 2)
        #expect(large.signInRate == 100 && large.permitRate == 67)
        #expect(sums(3, 1).signInRate == 33 && sums(200, 1).signInRate == 1 && sums(201, 1).signInRate == 0 && sums(2, 5).signInRate == 100)
        #expect(sums(0, 0).signInRate == nil && sums(0, 0, 0, 0).latency == nil)
        #expect(sums(0, 0, 0, 2, 0, 0, 3).latency == 2 && sums(0, 0, 0, 3, 0, 0, 4).latency == 1)
    }

    @Test("hours of Los Angeles are those that the system's table has in months of each year from 2007 on, but for the hour that comes twice")
    func pacificHours() throws {
        let zone = try #require(TimeZone(identifier: "America/Los_Angeles"))
        var wrong: [Int] = []
        func offset(_ hour: Int) -> Int { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(hour) * 3600)) / 3600 }
        for year in 2007...2037 {
            for month in [1, 3, 7, 11] {
                let first = try #require(CivilDate(year: year, month: month, day: 1)).daysSince1970
                for hour in first * 24..<(first + 28) * 24 {
                    let local = hour + offset(hour)
                    let isRepeated = offset(hour - 1) > offset(hour)
                    if PacificHours.universal(day: local / 24, hour: local % 24) != (isRepeated ? hour - 1 : hour) { wrong.append(hour) }
                }
            }
        }
        #expect(wrong.isEmpty)
    }
}
