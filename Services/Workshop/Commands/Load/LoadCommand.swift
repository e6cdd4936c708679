package import ArgumentParser
internal import CommandKit
internal import Foundation
internal import LoadReporting
internal import LoadTool
internal import ServiceKit

/// `boxoffice load`: puts load on one service.
package struct LoadCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Put load on one service and measure it.",
        subcommands: [LoadServiceCommand.self, LoadCompareCommand.self, LoadJoinCommand.self],
        defaultSubcommand: LoadServiceCommand.self
    )

    package init() {}
}

/// `boxoffice load compare A.json B.json`.
struct LoadCompareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Compare two JSON reports of 'boxoffice load'.",
        discussion: """
            Each figure comes with its ratio and with the interval in which chance alone may have put the typical second; what lies within it is \
            said to be noise. Different settings or machines are said as well.

            Exit codes: 0 all went well, 1 an assertion failed, 2 the options are wrong, or a report cannot be read.
            """
    )

    @Argument(help: "The base: a JSON report.")
    var base: String

    @Argument(help: "The JSON report to compare with the base.")
    var new: String

    @Option(
        help: """
            How far the new one may be from the base: 'p99<=1.1x', 'rate>=0.95x', 'session:p50<=1.2x'; rate, mean, p50 to p100, max, errors, cpu, \
            memory; may be repeated.
            """)
    var assert: [String] = []

    @Flag(help: "An assertion that is broken by no more than noise holds.")
    var tolerateNoise = false

    @Option(help: "Write the comparison as one self-contained HTML page.")
    var html: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        do {
            let assertions = try assert.map { text throws(ComparedAssertion.Rejection) in try ComparedAssertion(text) }
            var comparison = ReportComparison(base: try LoadReport(file: base), new: try LoadReport(file: new), names: Self.names(base, new))
            comparison.judge(assertions, toleratesNoise: tolerateNoise)
            print(json ? try comparison.json() : comparison.text(), terminator: "")
            if let html { try Data(try comparison.html().utf8).write(to: URL(fileURLWithPath: html)) }
            guard comparison.hasPassed else { throw CommandExit.failed.exitCode }
        } catch let error as ComparedAssertion.Rejection {
            CommandExit.explain(PlainReason.of(error))
            throw CommandExit.usage.exitCode
        } catch let error as ExitCode {
            throw error
        } catch {
            CommandExit.explain(PlainReason.of(error))
            throw CommandExit.ofStart(error).exitCode
        }
    }

    /// File names, with their folders where they are the same.
    private static func names(_ base: String, _ new: String) -> (base: String, new: String) {
        let names = LoadJoinCommand.names([base, new])
        return (names[0], names[1])
    }
}

/// `boxoffice load join A.json B.json …`.
struct LoadJoinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join",
        abstract: "Join the JSON reports of several generators into one report.",
        discussion: """
            Of generators that put the same load on one service at the same time. Counts add up; percentiles come from the histograms of all calls, \
            second by second and step by step. Reports of another scenario, version or schedule are refused.

            Exit codes: 0 all went well, 1 an assertion failed, 2 the options are wrong, a report cannot be read, or one does not belong to the others.
            """
    )

    @Argument(help: "JSON reports of boxoffice load, two or more.", completion: .file(extensions: ["json"]))
    var reports: [String]

    @OptionGroup(title: "Results") var output: LoadOutputOptions

    func run() async throws {
        do {
            let assertions = try output.assert.map { try Assertion($0) }
            let names = Self.names(reports)
            let parts = try zip(names, reports).map { name, path in (name: name, report: try LoadReport(file: path)) }
            var whole = try ReportJoin(parts).report(name: output.name, tags: try output.tags(), commandLine: CommandLine.arguments)
            whole.assertions = assertions.map { $0.check(RunMeasurement(whole)) }
            try output.write(whole)
            guard whole.hasPassed else { throw CommandExit.failed.exitCode }
        } catch let error as ExitCode {
            throw error
        } catch let error where error is OptionRejection || error is ReportJoin.Rejection {
            CommandExit.explain(PlainReason.of(error))
            throw CommandExit.usage.exitCode
        } catch {
            CommandExit.explain(PlainReason.of(error))
            throw CommandExit.ofStart(error).exitCode
        }
    }

    /// File names, with their folders where some are the same.
    static func names(_ paths: [String]) -> [String] {
        let short = paths.map { URL(fileURLWithPath: $0).lastPathComponent }
        return Set(short).count == short.count ? short : paths
    }
}

extension LoadReport {
    /// - Throws: `CommandFailure` that names the file.
    init(file path: String) throws {
        guard let content = FileManager.default.contents(atPath: path) else { throw CommandFailure("cannot read \(path)", exit: .usage) }
        do { self = try LoadReport(json: content) } catch { throw CommandFailure("cannot use \(path): \(PlainReason.of(error))", exit: .usage) }
    }
}

/// The output of a run.
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

    /// - Throws: `OptionRejection`.
    func check() throws { _ = try tags() }

    func tags() throws -> [String: String] {
        var tags: [String: String] = [:]
        for text in tag {
            guard let equals = text.firstIndex(of: "="), equals != text.startIndex else { throw OptionRejection("--tag '\(text)'", "give KEY=VALUE") }
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
