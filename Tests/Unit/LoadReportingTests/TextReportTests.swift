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

    @Test(
        "figures of a debug build end with a warning, whether the service or the tool was one",
        arguments: [("debug", "release", true), ("release", "debug", true), ("release", "release", false), ("unknown", "release", false)])
    func debugBuildsAreSaid(service: String, tool: String, isWarned: Bool) throws {
        var report = SampleReport.make()
        report.serviceBuild = ServiceBuild(rawValue: service)
        report.machine.build = tool
        let text = report.text()
        #expect(text.contains("service: \(service) build; this tool: \(tool) build"))
        #expect(text.hasSuffix("debug build: these figures say nothing about speed\n") == isWarned)
        #expect(try report.html().contains(ServiceBuild.warning) == isWarned)
    }

    @Test("a program's build is read from its metrics; without the line it is unknown")
    func readsBuilds() {
        func build(_ text: String) -> ServiceBuild { ServiceBuild(metrics: text) }
        #expect(build("a 1\nboxoffice_build_info{version=\"0.1.0\",build=\"debug\"} 1\n") == .debug)
        #expect(build("boxoffice_build_info{build=\"release\"} 1") == .release)
        for text in ["", "boxoffice_build_info 1", "boxoffice_build_info{build=\"fast\"} 1", "build_info{build=\"debug\"} 1"] {
            #expect(build(text) == .unknown, "\(text)")
        }
    }

    @Test("a report of a version that did not ask for the build is read as one of an unknown build")
    func readsOlderReports() throws {
        var report = SampleReport.make()
        report.serviceBuild = .release
        let newer = try #require(try JSONSerialization.jsonObject(with: report.json()) as? [String: Any])
        #expect(newer["serviceBuild"] as? String == "release")
        let older = try LoadReport(json: try JSONSerialization.data(withJSONObject: newer.filter { $0.key != "serviceBuild" }))
        #expect(older.serviceBuild == nil && older.text().contains("service: unknown build"))
    }

    @Test func theSeriesIsAlsoCSV() {
        let lines = SampleReport.make().csv().components(separatedBy: "\r\n")
        #expect(lines.count == 3)
        #expect(lines[0].split(separator: ",").count == lines[1].split(separator: ",").count)
        #expect(lines[1].hasPrefix("1.000,0,100,0,100,100,0,"))
    }
}
