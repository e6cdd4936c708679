import ConfigService
import ContractRuntime
import Contracts
import Testing

@Suite("Configuration reports", .eachEngine)
struct ReportTests {
    private func rows(_ admin: AdministrationWorld, _ kind: ReportKind, mvpds: [String] = ["TinyCable"]) async throws -> [[String]] {
        let request = GetReportRequest(token: AdministrationWorld.Who.vic.token, kind: kind, requestorIDs: ["NEWS"], mvpdIDs: mvpds)
        let report = try await admin.service.getReport(request, context: CallContext())
        #expect(report.columns.count == 9 && report.rows.allSatisfy { $0.cells.count == 9 })
        return report.rows.map(\.cells)
    }

    @Test("dashboard #35: the lifetimes are those that hold, in words; what the MVPD sets is said so")
    func lifetimes() async throws {
        let admin = try await AdministrationWorld()
        #expect(try await rows(admin, .authnTtl) == [Array(repeating: "30 days", count: 9)])
        #expect(try await rows(admin, .authzTtl) == [Array(repeating: "1 hour", count: 9)])
        #expect(try await rows(admin, .authnTtl, mvpds: ["Trial"]) == [Array(repeating: "10 minutes", count: 9)])
        try await admin.edit(.integration, "NEWS/TinyCable") { $0["authzTtl"] = 22_200 }.changed()
        try await admin.edit(.mvpd, "TinyCable") { $0["authnTtlSource"] = "mvpd" }.changed()
        #expect(try await rows(admin, .authzTtl) == [Array(repeating: "1 hour", count: 9)])
        try await admin.push().version()
        #expect(try await rows(admin, .authzTtl) == [Array(repeating: "6 hours 10 minutes", count: 9)])
        #expect(try await rows(admin, .authnTtl) == [Array(repeating: "Set by MVPD", count: 9)])
    }

    @Test("single sign-on is enabled where it is on and the platform has it, uncertain where it may be refused")
    func singleSignOn() async throws {
        let admin = try await AdministrationWorld()
        #expect(try await rows(admin, .sso).first?.allSatisfy { $0 == "Disabled" } == true)
        try await admin.edit(.integration, "NEWS/TinyCable") { $0["platformSso"] = true }.changed()
        try await admin.push().version()
        let enabled = try #require(try await rows(admin, .sso).first)
        #expect(enabled.enumerated().filter { $0.element != "Disabled" }.map(\.offset) == [6] && enabled[6] == "Enabled")
        try await admin.edit(.mvpd, "TinyCable") { $0["authPerAggregator"] = true }.changed()
        try await admin.push().version()
        #expect(try await rows(admin, .sso).first?[6] == "Uncertain")
    }

    @Test("dashboard #16: what an integration comes to is that of the draft, as soon as it is edited again and again")
    func followsTheDraft() async throws {
        let world = try await AdministrationWorld()
        for seconds in [3600, 7200] {
            try await world.edit(.integration, "NEWS/TinyCable") { $0["authnTtl"] = seconds }
            #expect(try await world.get(.integration, "NEWS/TinyCable").effectiveJson.contains(#""value":\#(seconds)"#))
            #expect(try await world.list(.integration, "news/tiny").entities.map(\.isChanged) == [true])
            #expect(try await world.draft().changes.map(\.newJson) == ["\(seconds)"])
        }
        #expect(try await world.get(.integration, "SPORT/TinyCable", as: .rita).effectiveJson.contains("7200") == false)
    }

    @Test("dashboard #16: an integration tells what its values come to, and the level of each")
    func effectiveValues() async throws {
        let admin = try await AdministrationWorld()
        #expect(
            try await admin.get(.integration, "NEWS/TinyCable").effectiveJson.contains(#""authzTtl":{"mandatory":true,"source":"mvpd","value":3600}"#)
        )
        let changed = try await admin.edit(.integration, "NEWS/TinyCable") { $0["authzTtl"] = 60 }.changed()
        #expect(changed.entity?.effectiveJson.contains(#"{"mandatory":false,"source":"integration","value":60}"#) == true)
        try await admin.edit(.integration, "NEWS/TinyCable") { $0["authzTtl"] = nil }.changed()
        #expect(try await admin.get(.integration, "NEWS/TinyCable").effectiveJson.contains(#""source":"mvpd","value":3600"#))
        #expect(try await admin.get(.requestor, "NEWS").effectiveJson.isEmpty)
    }
}
