internal import ArgumentParser
internal import CommandKit
internal import Foundation
internal import LoadReporting
internal import LoadTool

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
        } catch let error where error is BadOption || error is ReportJoin.Mismatch {
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
