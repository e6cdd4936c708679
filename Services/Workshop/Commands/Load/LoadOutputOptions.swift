internal import ArgumentParser
internal import CommandKit
internal import Foundation
internal import LoadReporting
internal import LoadTool
internal import ServiceKit

/// What comes out of a run.
struct LoadOutputOptions: ParsableArguments {
    @Option(help: "An assertion about the results, such as 'p99<5ms', 'errors<0.01%', 'rate>=1000', 'Authorize:p99.9<20ms'; may be repeated.")
    var assert: [String] = []

    @Option(help: "Write the report as JSON; '-' is standard output, in place of the text.")
    var json: String?

    @Option(help: "Write the report as one self-contained HTML page with charts.")
    var html: String?

    @Option(help: "Write the time series as CSV; '-' is standard output, in place of the text.")
    var csv: String?

    @Option(help: "Write the percentiles of the response times in the format of HdrHistogram's plotter.")
    var hgrm: String?

    @Option(help: "A name for the run, shown in the report.")
    var name: String?

    @Option(help: "KEY=VALUE shown in the report; may be repeated.")
    var tag: [String] = []

    /// - Throws: `BadOption`.
    func check() throws { _ = try tags() }

    func tags() throws -> [String: String] {
        var tags: [String: String] = [:]
        for text in tag {
            guard let equals = text.firstIndex(of: "="), equals != text.startIndex else { throw BadOption("--tag '\(text)'", "give KEY=VALUE") }
            tags[String(text[..<equals])] = String(text[text.index(after: equals)...])
        }
        return tags
    }

    /// Prints the text, and writes what was asked for.
    func write(_ report: LoadReport) throws {
        if json != "-", csv != "-" { print(report.text(), terminator: "") }
        if let json { try write(try report.json(), to: json) }
        if let html { try write(Data(try report.html().utf8), to: html) }
        if let csv { try write(Data(report.csv().utf8), to: csv) }
        if let hgrm { try write(Data(report.percentileDistribution().utf8), to: hgrm) }
    }

    private func write(_ content: Data, to path: String) throws {
        if path == "-" { return StandardStream.output.writeOrEnd(content) }
        do {
            try content.write(to: URL(fileURLWithPath: path))
        } catch {
            throw CommandFailure("cannot write \(path)", advice: PlainReason.of(error))
        }
    }
}
