import Foundation
import LoadReporting
import Testing

@Suite struct TextReportTests {
    @Test func fitsInto80Columns() {
        var report = SampleReport.make()
        report.settings.workload = String(repeating: "LongMethodName 10 %, ", count: 20)
        report.errors = [
            ErrorCount(code: "http_404", count: 20, example: "<!DOCTYPE html>\n<html lang=\"en\">\n" + String(repeating: "x", count: 200))
        ]
        report.assertions.append(AssertionResult(text: "rate>=1k", measured: "10/s", hasHeld: false))
        let lines = report.text().split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.allSatisfy { $0.count <= 80 }, "\(report.text())")
        #expect(lines.contains { $0.contains("http_404: <!DOCTYPE html> <html") })
        #expect(lines.contains { $0.contains("FAILED") && $0.contains("rate>=1k") })
    }

    @Test func saysWhatWasNotStartedAndThatTheToolWasTheLimit() {
        var report = SampleReport.make()
        #expect(report.text().contains("1 iterations were not started"))
        #expect(!report.text().contains("bottleneck"))
        report.generator.wasBottleneck = true
        report.generator.explanation = "It was late."
        #expect(report.text().contains("The tool was the bottleneck. It was late."))
    }

    @Test func theSeriesIsAlsoCSV() {
        let lines = SampleReport.make().csv().components(separatedBy: "\r\n")
        #expect(lines.count == 3)
        #expect(lines[0].split(separator: ",").count == lines[1].split(separator: ",").count)
        #expect(lines[1].hasPrefix("1.000,0,100,0,100,100,0,"))
    }
}
