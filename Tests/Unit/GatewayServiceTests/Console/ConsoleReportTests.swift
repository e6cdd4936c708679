internal import Contracts
internal import Faults
@testable import GatewayAdministration
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

@Suite struct ConsoleReportTests {
    let console = ConsoleFixture()

    @Test("dashboard #35: a report shows what holds on each platform; all channels at first")
    func reports() async throws {
        let row = ReportRow(requestorID: "ACME1", mvpdID: "NorthCable", mvpdName: "<b>", cells: ["30 days", "Set by MVPD"])
        console.gateway.administration.getReport.answer(with: CatalogueReport(columns: ["Desktop", "Roku"], rows: [row]))
        let page = try await console.get("/reports/authn-ttl")
        #expect(page.text.contains("Set by MVPD") && page.text.contains("/console/integrations/ACME1/NorthCable") && page.text.contains("&lt;b&gt;"))
        #expect(console.gateway.administration.getReport.requests.last?.requestorIDs == [])
        #expect(page.text.contains("ACME1") && !page.text.contains("value=\"BRAVO\""))
        _ = try await console.get("/reports/sso?chosen=1&requestor=ACME1&mvpd=NorthCable+LakeTel")
        let request = console.gateway.administration.getReport.requests.last
        #expect(request?.kind == .sso && request?.requestorIDs == ["ACME1"] && request?.mvpdIDs == ["NorthCable", "LakeTel"])
        #expect(try await console.get("/reports/nothing").status == 404)
    }

    @Test("a report of a large catalogue begins with one channel, and has all of them for who asks")
    func beginsSmall() async throws {
        var configuration = DemoCatalogue.configuration
        configuration.integrations += (0..<2500).map { Integration(requestorID: "ACME1", mvpdID: "M\($0)") }
        console.gateway.catalogue.publish(configuration)
        console.gateway.administration.getReport.answer(with: CatalogueReport(columns: ["Desktop"], rows: []))
        #expect(try await console.get("/reports/sso").text.contains("The catalogue is large"))
        #expect(console.gateway.administration.getReport.requests.last?.requestorIDs == ["ACME1"])
        _ = try await console.get("/reports/sso?chosen=1&requestor=ACME1&requestor=ACME2")
        #expect(console.gateway.administration.getReport.requests.last?.requestorIDs == [])
    }

    @Test("dashboard #36: without a channel there is a message, and nothing is asked")
    func needsAChannel() async throws {
        let page = try await console.get("/reports/authn-ttl?chosen=1&mvpd=NorthCable")
        #expect(page.text.contains("Choose at least one channel.") && !page.text.contains("CSV"))
        #expect(console.gateway.administration.getReport.requests.isEmpty)
    }

    @Test("dashboard #37: the CSV has the cells of the table")
    func exports() async throws {
        let row = ReportRow(requestorID: "ACME1", mvpdID: "NorthCable", mvpdName: "=1+1", cells: ["30 days"])
        console.gateway.administration.getReport.answer(with: CatalogueReport(columns: ["Desktop"], rows: [row]))
        let page = try await console.get("/reports/authn-ttl?chosen=1&requestor=ACME1")
        #expect(page.text.contains("/console/reports/authn-ttl?chosen=1&amp;requestor=ACME1&amp;format=csv"))
        let csv = try await console.get("/reports/authn-ttl?chosen=1&requestor=ACME1&format=csv")
        #expect(csv.text == "Requestor,MVPD,MVPD name,Desktop\r\nACME1,NorthCable,'=1+1,30 days\r\n")
    }

    private static let counts: [UInt64] = [10, 8, 2, 5, 4, 1, 500, 7]

    private func answerUsage() {
        console.gateway.usage.queryUsage.answer { query, _ in
            if query.path == ["year"] {
                let rows = [
                    UsageRow(values: ["2026", "<script>"], counts: Self.counts), UsageRow(values: ["2025", "<script>"], counts: Self.counts),
                ]
                return UsageReport(dimensions: ["year", "mvpd"], metrics: query.metrics, rows: rows, limit: 10_000)
            }
            let rows = [
                UsageRow(values: ["2026", "11", "28"], counts: Self.counts), UsageRow(values: ["2026", "12", "01"], counts: Self.counts),
            ]
            return UsageReport(dimensions: query.path, metrics: query.metrics, rows: rows, start: "2026-11-01T00:00:00", limit: 10_000)
        }
    }

    @Test(
        "a service that counts as it likes stops no process",
        arguments: [
            ["9223372036854775807", "12", "31", "23"], ["-9223372036854775808", "1", "1", "0"], ["2026", "11", "28", "9223372036854775807"],
            ["2026", "11", "28", "-9223372036854775808"], ["2026", "9223372036854775807", "28", "1"], ["0", "0", "0", "0"],
            ["2026", "11", "28", "13"],
        ])
    func anyCounts(values: [String]) async throws {
        for (period, length) in [(UsageView.Period.year, 2), (.month, 3), (.day, 4)] {
            let row = UsageRow(values: Array(values.prefix(length)), counts: UsageSeries.metrics.map { _ in .max })
            let series = UsageSeries(UsageReport(metrics: UsageSeries.metrics, rows: [row, row]), period)
            for chart in UsageChart.all { #expect(!chart.content(series).isEmpty) }
        }
        var counts = UsageSeries.Counts()
        counts.add([.max, .max - 1, 1, 3, 2], UsageSeries.metrics)
        #expect(counts.signInRate == 99 && counts.permitRate == 66)
    }

    @Test("so does one whose lists have pages without end")
    func anyPages() async throws {
        let version = CatalogueVersion(version: 9)
        console.gateway.administration.getVersion.answer(with: VersionSnapshot(version: version, documentJson: "{}"))
        for (page, size) in [(0, 200), (UInt32.max, UInt32.max), (0, 0), (UInt32.max, 1)] as [(UInt32, UInt32)] {
            let list = VersionPage(versions: [version], total: .max, page: page, size: size)
            console.gateway.administration.listVersions.answer(with: list)
            #expect(try await console.get("/history").status == 200, "\(page) of \(size)")
            #expect(try await console.get("/history/9").status == 200, "\(page) of \(size)")
        }
    }

    @Test("usage is drawn with its numbers in a table, and days on which nothing happened")
    func draws() async throws {
        answerUsage()
        let page = try await console.get("/usage")
        #expect(page.text.components("<svg") == 5 && page.text.contains("Sign-ins from 2026-11-28 to 2026-12-01: signed in 16, failed 4"))
        #expect(page.text.contains("<th scope=\"row\">2026-11-30</th><td>0</td>") && page.text.contains("80 %") && page.text.contains("100</td>"))
        #expect(page.text.contains("<bdi>&lt;script&gt;</bdi></th><td>20</td>") && !page.text.contains("style="))
        #expect(page.text.utf8.count < 60_000)
        let csv = try await console.get("/usage?period=month&format=csv")
        #expect(csv.text.hasPrefix("Day,Sign-ins begun,Signed in,Failed,") && csv.text.contains("2026-11-28,10,8,2,80 %,5,4,1,80 %,100,7\r\n"))
    }

    @Test("dashboard #40: who is bound to programmers gets their numbers alone")
    func isBound() async throws {
        answerUsage()
        _ = try await console.get("/usage?mvpd=NorthCable&by=platform")
        let requests = console.gateway.usage.queryUsage.requests
        #expect(requests.allSatisfy { $0.requestorIDs == ["ACME1", "ACME2"] })
        #expect(requests.last?.filters == [UsageFilter(dimension: "mvpd", values: ["NorthCable"]), UsageFilter(dimension: "platform")])
        #expect(requests.last?.start == "2026-11-01T00:00:00")
        #expect(try await console.get("/usage?requestor=BRAVO").status == 404)
        console.gateway.usage.queryUsage.answer(with: UsageReport(metrics: UsageSeries.metrics))
        #expect(try await console.get("/usage?requestor=ACME1").text.contains("Nothing was counted"))
    }

    @Test("dashboard #34: trials are given back to a device, a person, or, with the channel's id, to everybody")
    func resetsTrials() async throws {
        console.gateway.administration.checkAdministrator.answer(with: Administrator(name: "ada", role: .editor))
        console.gateway.operations.resetTempPass.answer(with: ResetTempPassResponse(trials: 3))
        #expect(try await console.post("/temp-pass", "requestor=ACME1&mvpd=Preview10&whose=all&confirmation=acme").status == 422)
        #expect(try await console.post("/temp-pass", "requestor=ACME1&mvpd=Preview10&whose=device&subject=").status == 422)
        #expect(console.gateway.operations.resetTempPass.requests.isEmpty)
        let reply = try await console.post("/temp-pass", "requestor=ACME1&mvpd=Preview10&whose=all&confirmation=ACME1")
        #expect(reply.location == "/console/temp-pass?forgotten=3")
        _ = try await console.post("/temp-pass", "requestor=ACME1&mvpd=Preview10&whose=key&subject=ada%40example.com")
        #expect(console.gateway.operations.resetTempPass.requests.last?.scope == .key("ada@example.com"))
        #expect(console.gateway.administration.checkAdministrator.requests.map(\.subject) == ["everyone", "identifier ada@…"])
        console.gateway.administration.checkAdministrator.fail(with: Fault(.insufficientRole, "no"))
        #expect(try await console.post("/temp-pass", "requestor=BRAVO&mvpd=Preview10&whose=device&subject=d1").status == 403)
        #expect(try await console.get("/temp-pass?forgotten=3").text.contains("3 trials are forgotten"))
    }
}

extension String {
    /// How often the text has another one.
    func components(_ part: String) -> Int { ranges(of: part).count }
}
