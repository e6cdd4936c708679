package import ArgumentParser
internal import Clocks
internal import CommandKit
package import Foundation
internal import ServiceKit

/// `boxoffice logs`: what the programs of the local cluster report, as one log.
package struct LogsCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "logs",
        abstract: "Show the logs of the cluster's programs, joined by time.",
        discussion: """
            Each line has time (UTC), program, level, event, then the fields. In a terminal of less than 120 columns the day stands above its lines, and \
            long ones are broken. A line that is no event, such as what a program says that cannot start, is shown as it is. With --json each line is \
            the one that the program wrote, with the member 'program' before the others; one that is no JSON is the member 'line'. The logs are there \
            also when no cluster runs.
            """)

    @Argument(
        help: """
            config, authentication, authorization, autosignin, gateway or sandbox, a copy such as authentication-2, or pki, which renews certificates; \
            default: all.
            """, completion: .list(ClusterService.allCases.map(\.rawValue) + ["pki"]))
    var programs: [String] = []

    @Flag(name: [.short, .long], help: "Go on with what is written from now on, until Ctrl-C; also over a rotation of the files.")
    var follow = false

    @Option(
        help: ArgumentHelp(
            "Only lines about this request: a trace id, the id of an answer (adobe-request-id), or a traceparent.", valueName: "id"))
    var trace: TraceName?

    @Option(help: ArgumentHelp("Only lines since then: 90s, 5m, 2h, or 2031-03-04T10:00:00Z.", valueName: "time"))
    var since: LogStart?

    @Flag(help: "Print JSON, one object a line.")
    var json = false

    package init() {}

    package func validate() throws {
        for name in programs where !Self.isProgram(name) {
            let known = ClusterService.allCases.map(\.rawValue) + ["pki"]
            let near = CommandSuggestion.nearest(to: name, among: known).map { "; did you mean \($0)?" } ?? ""
            throw ValidationError("'\(name)' is no program of a cluster: there are \(known.joined(separator: ", "))\(near)")
        }
    }

    /// The name of a service, or of one of its copies.
    static func isProgram(_ name: String) -> Bool {
        let parts = name.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        if name == "pki" { return true }
        guard ClusterService(rawValue: String(parts[0])) != nil else { return false }
        return parts.count == 1 || Int(parts[1]).map { (2...ClusterCopies.most).contains($0) } ?? false
    }

    /// The gateway's id of a request with its trace, which other programs name.
    static func learned(_ name: TraceName?, _ home: ClusterHome, since: Timestamp?) -> TraceName? {
        guard var name, name.isRequest else { return name }
        let gateway = JoinedLogs(folder: home.logs, selection: LogSelection(programs: ["gateway"], trace: name, since: since))
        while let line = gateway.next() {
            if let event = line.event { name.learn(from: event) }
        }
        return name
    }

    package func run() async throws {
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        let start = since.map { $0.moment(now: SystemClock().now()) }
        let selection = LogSelection(programs: programs, trace: Self.learned(trace, home, since: start), since: start)
        let found = JoinedLogs.programs(in: home.logs)
        guard follow || found.contains(where: selection.includes(program:)) else {
            let whose = programs.isEmpty ? "" : " of \(programs.joined(separator: ", "))"
            throw CommandFailure(
                "there are no logs\(whose) in \(home.logs.path)", advice: "start a cluster with ./Services/up, or set BOXOFFICE_HOME")
        }
        let printer = LogPrinter(
            asJSON: json, console: Console(), programs: found.filter(selection.includes(program:)), columns: TerminalSize.columns)
        let logs = JoinedLogs(folder: home.logs, selection: selection)
        guard follow else {
            while let line = logs.next() { printer.add(line) }
            logs.rest().forEach(printer.add)
            return printer.flush()
        }
        await printer.follow(logs, until: StopSignals())
    }
}

/// Prints lines of logs, many at a time.
struct LogPrinter {
    private static let batch = 64 * 1024
    private static let pause: Duration = .milliseconds(200)

    private let asJSON: Bool
    private let console: Console
    private let width: Int
    /// The columns of a terminal that is too narrow for whole lines.
    private let columns: Int?
    private let waiting = Waiting()

    /// From so many columns on, most whole lines have room.
    private static let wide = 120

    private final class Waiting {
        var octets = Data()
        var day: String?
    }

    /// - Parameter columns: The columns of the terminal; `nil`: none.
    init(asJSON: Bool, console: Console, programs: [String], columns: Int? = nil) {
        (self.asJSON, self.console) = (asJSON, console)
        self.columns = columns.flatMap { !asJSON && $0 < Self.wide ? $0 : nil }
        width = programs.map(\.count).max() ?? 14
    }

    func add(_ line: LogLine) {
        waiting.octets += Data((text(line) + "\n").utf8)
        if waiting.octets.count >= Self.batch { flush() }
    }

    private func text(_ line: LogLine) -> String {
        if asJSON { return line.json }
        guard let columns else { return line.text(console, width: width) }
        let lines = line.lines(console, width: width, columns: columns).joined(separator: "\n")
        guard let day = line.day, day != waiting.day else { return lines }
        waiting.day = day
        return "\(console.faint(day))\n\(lines)"
    }

    func flush() {
        guard !waiting.octets.isEmpty else { return }
        StandardStream.output.writeOrEnd(waiting.octets)
        waiting.octets = Data()
    }

    /// Prints what is there and what comes, until a signal.
    func follow(_ logs: JoinedLogs, until signals: StopSignals) async {
        while !signals.haveCome {
            while !signals.haveCome, let line = logs.next() { add(line) }
            logs.follow().forEach(add)
            flush()
            try? await Task.sleep(for: Self.pause)
        }
    }
}

/// The logs of all programs of a cluster, joined by time.
package final class JoinedLogs {
    private let folder: URL
    private let selection: LogSelection
    private var files: [LogFile] = []
    /// The next line of each file, where it is known.
    private var heads: [LogLine?] = []

    /// - Parameter folder: The folder of the logs, one for each program: `NAME.log`, and the files before it.
    init(folder: URL, selection: LogSelection) {
        self.folder = folder
        self.selection = selection
        addFiles(skipping: true)
    }

    /// The programs of the logs that are there.
    package static func programs(in folder: URL) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let logs = Set(names.map { FormerLog.log(of: $0) ?? $0 })
        return logs.filter { $0.hasSuffix(".log") && !$0.hasPrefix(".") }.map { String($0.dropLast(4)) }.sorted()
    }

    var programs: [String] { files.map(\.program) }

    /// The next line that is selected, the oldest of all files; `nil`: there is none now.
    func next() -> LogLine? {
        while true {
            for index in files.indices where heads[index] == nil { heads[index] = files[index].next() }
            let oldest = heads.indices.filter { heads[$0] != nil }.min { one, other in
                guard let first = heads[one]?.place, let second = heads[other]?.place, first != second else { return one < other }
                return first < second
            }
            guard let oldest, let line = heads[oldest] else { return nil }
            heads[oldest] = nil
            if selection.includes(line) { return line }
        }
    }

    /// Lines that stand at the ends of files without an end of line.
    func rest() -> [LogLine] { files.compactMap { $0.rest() }.filter(selection.includes) }

    /// Takes in what has changed since `next` had no more: new files, and those that took the place of others.
    /// - Returns: The texts at the ends of the former ones.
    func follow() -> [LogLine] {
        let rest = files.compactMap { $0.follow() }
        addFiles(skipping: false)
        return rest.filter(selection.includes)
    }

    private func addFiles(skipping: Bool) {
        for program in Self.programs(in: folder) where selection.includes(program: program) && !files.contains(where: { $0.program == program }) {
            let file = LogFile(program: program, path: folder.appendingPathComponent("\(program).log").path)
            if skipping, let since = selection.since { file.skip(before: since) }
            files.append(file)
            heads.append(nil)
        }
    }
}
