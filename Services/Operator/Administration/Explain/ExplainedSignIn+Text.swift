internal import CommandKit
internal import Foundation

extension ExplainedSignIn {
    /// - Parameters:
    ///   - asJSON: All of it, in the form of the administration API.
    ///   - showsAll: The checks that did not fail, too.
    func text(asJSON: Bool, showsAll: Bool, _ console: Console) throws -> String {
        guard !asJSON else {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
        let (failed, others) = (checks.filter { $0.outcome == "failed" }, checks.filter { $0.outcome != "failed" })
        let shown = failed + (showsAll ? others : [])
        return (head(console) + shown.flatMap { rows($0, console) } + (showsAll ? Self.legend : summary(others)) + footer).joined(separator: "\n")
    }

    private func head(_ console: Console) -> [String] {
        let verdict =
            switch result {
            case "signedIn": console.good(trace == nil ? "would sign in" : "signed in")
            case "declined": "declined by the MVPD or the person"
            case "silent": "signed in nowhere, and not to be asked"
            default: console.bad("rejected")
            }
        let moment = Date(timeIntervalSince1970: Double(endedAt) / 1000).formatted(.iso8601)
        let parties = [mvpd.map { "MVPD \($0)" }, requestor.map { "requestor \($0)" }].compactMap { $0 }.joined(separator: ", ")
        return [console.bold(verdict) + (reason.map { ": \($0)" } ?? "")]
            + TerminalText.wrapped(
                [trace.map { "trace \($0)" }, parties.isEmpty ? nil : parties, "at \(moment)"].compactMap { $0 }.joined(separator: ", "), 2)
            + [""]
    }

    private func rows(_ check: Check, _ console: Console) -> [String] {
        let mark =
            switch check.outcome {
            case "passed": console.good("ok  ")
            case "failed": console.bad("FAIL")
            case "notReached": console.faint("... ")
            default: console.faint("-   ")
            }
        let number = check.step < 10 ? " \(check.step)" : "\(check.step)"
        var lines = ["\(number)  \(mark)  \(check.title)"]
        if check.outcome == "failed", let reason = check.reason { lines += TerminalText.wrapped("reason \(reason)", 10) }
        if let explanation = check.explanation { lines += TerminalText.wrapped(explanation, 10) }
        if let hint = check.hint { lines += TerminalText.wrapped("-> " + hint, 10) }
        return lines
    }

    private static let legend = ["", "ok passed, ... not checked as another failed, - not needed or not checked"]

    /// Of checks that are not shown.
    private func summary(_ others: [Check]) -> [String] {
        let counts = [
            ("passed", others.count { $0.outcome == "passed" }), ("not reached", others.count { $0.outcome == "notReached" }),
            ("not needed or not checked", others.count { $0.outcome != "passed" && $0.outcome != "notReached" }),
        ].filter { $0.1 > 0 }
        guard !counts.isEmpty else { return [] }
        let isFirst = others.count == checks.count
        return (isFirst ? [] : [""])
            + ["\(isFirst ? "Checks" : "Further checks"): \(counts.map { "\($0.1) \($0.0)" }.joined(separator: ", ")). --all shows them."]
    }

    private var footer: [String] {
        guard !message.isEmpty else { return [] }
        return ["", "What the message says of itself (nothing of it is trusted):"]
            + message.flatMap { TerminalText.wrapped("\($0.name): \($0.value)", 2) }
    }
}
