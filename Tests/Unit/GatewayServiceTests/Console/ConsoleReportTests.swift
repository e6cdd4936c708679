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

    @Test("dashboard #36: without a channel there is a message, no MVPD is chosen, no table and no CSV; all three are back with a channel")
    func needsAChannel() async throws {
        let row = ReportRow(requestorID: "ACME1", mvpdID: "NorthCable", mvpdName: "North Cable", cells: ["30 days"])
        console.gateway.administration.getReport.answer(with: CatalogueReport(columns: ["Desktop"], rows: [row]))
        for kind in ["authn-ttl", "authz-ttl", "sso"] {
            for query in ["chosen=1&mvpd=NorthCable", "chosen=1&mvpd=NorthCable&requestor=", "chosen=1&mvpd=NorthCable&format=csv"] {
                let page = try await console.get("/reports/\(kind)?\(query)")
                #expect(page.status == 200 && page.isHTML && page.text.contains(#"role="alert">Choose at least one channel."#), "\(query)")
                let inputs = page.text.matches(of: /<input[^>]*name="mvpd"[^>]*>/).map { String($0.0) }
                #expect(!inputs.isEmpty && inputs.allSatisfy { $0.contains(#"value="""#) }, "\(query)")
                #expect(!page.text.contains("<table") && !page.text.contains("CSV") && !page.text.contains(" checked"), "\(query)")
            }
        }
        #expect(console.gateway.administration.getReport.requests.isEmpty, "nobody is asked")
        let page = try await console.get("/reports/authn-ttl?chosen=1&requestor=ACME1&mvpd=NorthCable")
        #expect(page.text.contains(#"value="NorthCable""#) && page.text.contains("<table") && page.text.contains("CSV"))
        #expect(!page.text.contains("Choose at least one channel."))
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

    @Test("a service whose lists have pages without end stops no process")
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
        let count = console.gateway.operations.resetTempPass.requests.count
        console.gateway.administration.checkAdministrator.fail(with: Fault(.notFound, "no"))
        let unknown = try await console.post("/temp-pass", "requestor=ACME1&mvpd=NorthCable&whose=device&subject=d1")
        #expect(unknown.status == 422 && unknown.text.contains("The channel has no such TempPass."))
        #expect(console.gateway.operations.resetTempPass.requests.count == count)
        console.gateway.administration.checkAdministrator.fail(with: Fault(.insufficientRole, "no"))
        #expect(try await console.post("/temp-pass", "requestor=BRAVO&mvpd=Preview10&whose=device&subject=d1").status == 403)
        #expect(try await console.get("/temp-pass?forgotten=3").text.contains("3 trials are forgotten"))
    }
}

extension String {
    /// How often the text has another one.
    func components(_ part: String) -> Int { ranges(of: part).count }
}
