internal import Foundation
internal import LoadReporting

extension ClusterStatus {
    /// A table, and below a program what is to be known of it.
    func lines(_ console: Console, now: Date = .now) -> [String] {
        let rows = [["program", "state", "since", "pid", "memory", "version", "address"]] + programs.map { $0.cells(now: now) }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        let table = rows.map { row in
            zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
        }
        return [console.faint("  " + table[0].joined(separator: "  ").trimmed)]
            + zip(programs, table.dropFirst()).flatMap { program, cells in
                var cells = cells
                cells[1] = program.isReady ? console.good(cells[1]) : console.bad(cells[1])
                return ["  " + cells.joined(separator: "  ").trimmed] + program.details(console)
            }
    }
}

extension ProgramStatus {
    fileprivate func cells(now: Date) -> [String] {
        [
            name, stateText, since.map { "\($0.formatted(.iso8601)) (\(Self.age(now.timeIntervalSince($0))))" } ?? "", pid.map(String.init) ?? "",
            residentBytes.map { "\($0 / 1_048_576) MiB" } ?? "", (version ?? "") + (build.map { " (\($0))" } ?? ""), address,
        ]
    }

    private var stateText: String {
        let state =
            switch self.state {
            case .ready: "ready"
            case .notReady: "not ready"
            case .notRunning: "not running"
            }
        return switch kind {
        case .own, .host: state
        case .replaced: "\(state), yours"
        case .double: "\(state), double"
        }
    }

    fileprivate func details(_ console: Console) -> [String] {
        (reasons + notes).map { "      \(LogLine.printable($0))" }
            + [lastError.map { console.faint("      last error: \($0.text)") }].compactMap { $0 }
    }

    /// `42 s`, `7 min`, `5 h`, `3 days`.
    static func age(_ seconds: Double) -> String {
        switch max(0, seconds) {
        case ..<120: "\(Int(max(0, seconds))) s"
        case ..<7200: "\(Int(seconds / 60)) min"
        case ..<172_800: "\(Int(seconds / 3600)) h"
        default: "\(Int(seconds / 86_400)) days"
        }
    }
}

extension String {
    fileprivate var trimmed: String { String(reversed().drop { $0 == " " }.reversed()) }
}
