internal import CommandKit
internal import ContractConformance

/// A report for the person at the terminal.
struct ConformanceText {
    let console: Console

    /// One line as soon as a requirement was tried; a failure includes its reason.
    func line(_ result: RequirementResult) {
        let id = result.id.padding(toLength: 11, withPad: " ", startingAt: 0)
        switch result.verdict {
        case .passed: console.line("  \(console.good("pass"))  \(id) \(result.sentence)")
        case .notApplicable:
            console.line(console.faint("  n/a   \(id) \(result.sentence)"))
            console.line(console.faint("                    \(result.reason ?? "")"))
        case .failed:
            console.line("  \(console.bad("FAIL"))  \(id) \(result.sentence)")
            result.details.forEach { console.line("                    \($0)") }
        }
    }

    /// - Parameter isMinimal: Only what a new implementation needs first was tried.
    func print(_ report: ConformanceReport, isMinimal: Bool = false) {
        let verdict = report.isConforming ? console.good("conforms") : console.bad("does not conform")
        console.line("\n  \(report.service) at \(report.address) \(verdict): \(report.summary)")
        let failed = report.results.filter { $0.verdict == .failed }.map(\.id)
        if !failed.isEmpty { console.line("  failed: \(failed.joined(separator: ", "))") }
        if isMinimal { console.line("  That was the minimal level; --level full tries the whole contract.") }
    }
}
