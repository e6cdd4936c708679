import Foundation
import LoadReporting
import Testing

@Suite struct LoadReportTests {
    @Test func comesBackFromJSON() throws {
        let report = SampleReport.make()
        #expect(try LoadReport(json: report.json()) == report)
    }

    @Test func refusesAnUnknownFormat() throws {
        var report = SampleReport.make()
        report.format = "boxoffice-load/99"
        let json = try report.json()
        #expect(throws: ReportRejection.self) { try LoadReport(json: json) }
    }

    @Test func saysWhatIsMissing() throws {
        let error = #expect(throws: ReportRejection.self) { try LoadReport(json: Data(#"{"format":"boxoffice-load/1"}"#.utf8)) }
        #expect(error?.description.contains("is missing") == true)
        #expect(throws: ReportRejection.self) { try LoadReport(json: Data("no JSON".utf8)) }
    }

    @Test func passesOnlyWhenAllAssertionsHold() {
        var report = SampleReport.make()
        #expect(report.hasPassed)
        report.assertions.append(AssertionResult(text: "rate>=1k", measured: "10/s", hasHeld: false))
        #expect(!report.hasPassed)
    }
}
