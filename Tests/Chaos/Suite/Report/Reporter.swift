import Foundation

/// Lines for the person, or the log, that watches a run.
struct Reporter: Sendable {
    func line(_ text: String = "") { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

    func result(_ name: String, _ verdict: Verdict, remark: String, took: Duration) {
        let share = String(format: "%.1f", verdict.failedShare * 100)
        let facts =
            "\(verdict.requests) requests, \(verdict.failures) failed (\(share) % during the fault), whole again after \(Self.text(verdict.recovery))"
        line("\(verdict.problems.isEmpty ? "ok  " : "FAIL")  \(name): \(facts); \(Self.text(took))")
        if !remark.isEmpty { line("        \(remark)") }
        verdict.problems.forEach { line("        \($0)") }
    }

    func check(_ name: String, _ facts: String, problems: [String]) {
        line("\(problems.isEmpty ? "ok  " : "FAIL")  \(name): \(facts)")
        problems.prefix(20).forEach { line("        \($0)") }
        if problems.count > 20 { line("        and \(problems.count - 20) more") }
    }

    static func text(_ span: Duration) -> String {
        let milliseconds = Double(span.components.seconds) * 1000 + Double(span.components.attoseconds) / 1e15
        return milliseconds < 1000 ? String(format: "%.0f ms", milliseconds) : String(format: "%.1f s", milliseconds / 1000)
    }
}
