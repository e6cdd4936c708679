internal import CommandKit
internal import Foundation
internal import LoadReporting

extension ClusterStatus {
    /// A table, and below a program what is to be known of it. The version stands below the table where all have the same.
    /// - Parameter width: Columns of the terminal: lines are not longer where the names of hosts allow that.
    func lines(_ console: Console, now: Date = .now, width: Int = 80) -> [String] {
        // Somebody's own service and a database server have versions of their own.
        let versions = Set(programs.filter { $0.build != nil }.compactMap(\.versionText))
        var rows = [["program", "state", "since", "pid", "memory", "address"]] + programs.map { $0.cells(now: now) }
        let hasAddress = 2 + Self.widths(rows).reduce(-2) { $0 + $1 + 2 } <= width
        if !hasAddress { rows = rows.map { Array($0.dropLast()) } }
        let widths = Self.widths(rows)
        let table = rows.map { row in
            zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
        }
        let body = zip(programs, table.dropFirst()).flatMap { program, cells -> [String] in
            var cells = cells
            cells[1] = program.isReady ? console.good(cells[1]) : console.bad(cells[1])
            let isOwnVersion = versions.count > 1 || program.build == nil
            let further = [hasAddress ? nil : "at \(program.address)", isOwnVersion ? program.versionText.map { "version \($0)" } : nil]
            return ["  " + cells.joined(separator: "  ").trimmed] + program.details(further.compactMap { $0 }, console, width)
        }
        let version = versions.count == 1 ? versions.map { console.faint("  version \($0)") } : []
        return [console.faint("  " + table[0].joined(separator: "  ").trimmed)] + body + version
    }

    private static func widths(_ rows: [[String]]) -> [Int] { rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 } }
}

extension ProgramStatus {
    fileprivate func cells(now: Date) -> [String] {
        [
            name, stateText, since.map { Self.age(now.timeIntervalSince($0)) } ?? "", pid.map(String.init) ?? "",
            residentBytes.map { "\($0 / 1_048_576) MiB" } ?? "", address,
        ]
    }

    fileprivate var versionText: String? { version.map { $0 + (build.map { " (\($0))" } ?? "") } }

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

    fileprivate func details(_ further: [String], _ console: Console, _ width: Int) -> [String] {
        let told = (further + reasons + notes).flatMap { TerminalText.wrapped(TerminalText.printable($0), 6, width: width) }
        let error = lastError.map { TerminalText.wrapped("last error: \($0.text)", 6, width: width).map(console.faint) } ?? []
        return told + error
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

/// A program of a cluster as it is now.
struct ProgramStatus: Sendable, Encodable {
    enum State: String, Sendable, Encodable {
        case ready
        /// It runs, and cannot do its work.
        case notReady
        case notRunning
    }

    /// The owner of the program.
    enum Kind: String, Sendable, Encodable {
        case own
        /// Somebody's own service in place of the cluster's.
        case replaced
        /// Played in the memory of `boxoffice run`.
        case double
        /// A program on one of the cluster's hosts.
        case host
    }

    /// The latest line of its log that reports an error.
    struct LastError: Sendable, Encodable {
        /// As the line has it.
        let time: String
        let event: String
        let fields: [String: String]
        /// The line of the log.
        let line: String
        /// As a person reads it.
        let text: String

        enum CodingKeys: String, CodingKey { case time, event, fields, line }
    }

    /// The copy's: `authentication-2`; on a host `authentication at a1`.
    let name: String
    let kind: Kind
    /// It answers here.
    let address: String
    var state: State
    /// The reasons why it is not ready.
    var reasons: [String] = []
    /// The notes about it though it is ready.
    var notes: [String] = []
    var pid: Int32?
    var since: Date?
    var residentBytes: Int?
    var version: String?
    /// `debug` or `release`.
    var build: String?
    /// The version of the catalogue that it works with.
    var catalogueVersion: UInt64?
    var lastError: LastError?

    var isReady: Bool { state == .ready }
}

/// The programs of a cluster as they are now.
struct ClusterStatus: Sendable, Encodable {
    let home: String
    let isReady: Bool
    let programs: [ProgramStatus]
    /// People administer it here.
    let console: String?

    init(home: String, programs: [ProgramStatus], console: String? = nil) {
        (self.home, self.programs, self.console) = (home, programs, console)
        isReady = programs.allSatisfy(\.isReady)
    }
}
