internal import CommandKit

/// What an examination of a cluster has found.
struct Finding: Sendable, Equatable, Encodable {
    enum Verdict: String, Sendable, Encodable {
        case fine
        /// To be looked at; the cluster works with it.
        case note
        case wrong
    }

    /// What was looked at.
    enum Area: String, Sendable, Encodable, CaseIterable {
        case home
        case settings
        case keys
        case certificates
        case clock
        case disk
        case ports
        case programs
        case catalogue
    }

    let area: Area
    let verdict: Verdict
    let what: String
    /// What to do; nothing where all is well.
    let advice: String?

    static func fine(_ area: Area, _ what: String) -> Finding { Finding(area: area, verdict: .fine, what: what, advice: nil) }

    static func note(_ area: Area, _ what: String, advice: String) -> Finding {
        Finding(area: area, verdict: .note, what: what, advice: advice)
    }

    static func wrong(_ area: Area, _ what: String, advice: String) -> Finding {
        Finding(area: area, verdict: .wrong, what: what, advice: advice)
    }
}

/// All that was found.
struct Diagnosis: Sendable, Encodable {
    let home: String
    /// Nothing is wrong; there may be notes.
    let isWell: Bool
    let findings: [Finding]

    init(home: String, findings: [Finding]) {
        (self.home, self.findings) = (home, findings)
        isWell = !findings.contains { $0.verdict == .wrong }
    }

    func lines(_ console: Console) -> [String] {
        findings.flatMap { finding in
            let verdict = finding.verdict.rawValue.padding(toLength: 5, withPad: " ", startingAt: 0)
            let coloured =
                switch finding.verdict {
                case .fine: console.good(verdict)
                case .note: console.bold(verdict)
                case .wrong: console.bad(verdict)
                }
            let area = finding.area.rawValue.padding(toLength: 12, withPad: " ", startingAt: 0)
            let what = finding.what.split(separator: "\n").joined(separator: "\n" + String(repeating: " ", count: 22))
            return ["  \(coloured)  \(area)  \(what)"]
                + (finding.advice.map { [String(repeating: " ", count: 22) + console.faint("-> \($0)")] } ?? [])
        }
    }
}
