internal import Clocks
package import Foundation
internal import ServiceKit

/// The logs of all programs of a cluster, joined by time.
package final class JoinedLogs {
    private let folder: URL
    private let selection: LogSelection
    private var files: [LogFile] = []
    /// The next line of each file, where it is known.
    private var heads: [LogLine?] = []

    /// - Parameter folder: Of the logs, one for each program: `NAME.log`, and the files before it.
    init(folder: URL, selection: LogSelection) {
        self.folder = folder
        self.selection = selection
        addFiles(skipping: true)
    }

    /// Of the logs that are there.
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
    /// - Returns: What stood at the ends of the former ones.
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
