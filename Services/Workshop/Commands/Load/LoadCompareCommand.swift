internal import ArgumentParser
internal import CommandKit
internal import Foundation
internal import LoadReporting

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
            let assertions = try assert.map { text throws(ComparedAssertion.Malformed) in try ComparedAssertion(text) }
            var comparison = ReportComparison(base: try LoadReport(file: base), new: try LoadReport(file: new), names: Self.names(base, new))
            comparison.judge(assertions, toleratesNoise: tolerateNoise)
            print(json ? try comparison.json() : comparison.text(), terminator: "")
            if let html { try Data(try comparison.html().utf8).write(to: URL(fileURLWithPath: html)) }
            guard comparison.hasPassed else { throw CommandExit.failed.exitCode }
        } catch let error as ComparedAssertion.Malformed {
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
