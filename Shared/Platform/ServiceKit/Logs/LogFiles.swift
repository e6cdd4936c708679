internal import Clocks
internal import Foundation
internal import Logging

/// The file that a program's standard output is, and those that were it before: begins another one in time, and removes old ones.
///
/// The starter of a native cluster says in `BOXOFFICE_LOG_FILE` that the file is the program's own. Only one thread at a time uses this.
struct LogFiles {
    /// Names the file that standard output is.
    static let variable = "BOXOFFICE_LOG_FILE"
    /// A file is begun at least that often, so that former ones can be removed by their age.
    private static let longest: Duration = .seconds(86_400)
    /// After a failure nothing is tried anew for that long.
    private static let pause: Duration = .seconds(60)

    private let path: String
    private let retention: LogRetention
    private let clock: any WallClock
    /// Standard output, and standard error where that is the same file.
    private let descriptors: [Int32]
    private var limit = 0
    /// The first line of the file was written at this time.
    private var begun: Timestamp
    private var retries: Timestamp

    /// - Parameters:
    ///   - path: The path of the file; `nil`, or another file than the first descriptor's: there is nothing to look after.
    ///   - descriptors: Standard output and standard error.
    init?(path: String?, retention: LogRetention, clock: any WallClock, descriptors: [Int32] = [STDOUT_FILENO, STDERR_FILENO]) {
        guard let path, let first = descriptors.first, let own = FileIdentity(descriptor: first), own == FileIdentity(path: path) else { return nil }
        (self.path, self.retention, self.clock) = (path, retention, clock)
        self.descriptors = descriptors.filter { FileIdentity(descriptor: $0) == own }
        begun = Self.firstMoment(path) ?? clock.now()
        retries = Timestamp(milliseconds: 0)
        prune()
        makeRoom(for: 0)
    }

    private var descriptor: Int32 { descriptors[0] }

    /// True when the file ends within a line, of a program that was killed for example.
    var endsWithinLine: Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var last: UInt8 = 0x0a
        let end = lseek(file, 0, SEEK_END)
        guard end > 0, pread(file, &last, 1, end - 1) == 1 else { return false }
        return last != 0x0a
    }

    /// To be called before lines are written: those go to another file if this one is full or old, or has been moved away.
    mutating func makeRoom(for count: Int) {
        let now = clock.now()
        guard now >= retries else { return }
        if FileIdentity(path: path) != FileIdentity(descriptor: descriptor) { return adopt(now) }
        let size = Self.size(descriptor)
        if size > 0, size + count > limit || begun + Self.longest <= now { rotate(now) }
    }

    /// To be called now and then, also when nothing is written.
    mutating func tend() {
        makeRoom(for: 0)
        prune()
    }

    /// Somebody moved the file away, or removed it.
    private mutating func adopt(_ now: Timestamp) {
        guard replaceDescriptors() else { return retries = now + Self.pause }
        begun = Self.firstMoment(path) ?? now
        prune()
    }

    private mutating func rotate(_ now: Timestamp) {
        let former = formerPath(now)
        guard rename(path, former) == 0 else { return retries = now + Self.pause }
        guard replaceDescriptors() else {
            // Lines go on to the file that is open: that is the log still.
            rename(former, path)
            return retries = now + Self.pause
        }
        begun = now
        prune()
    }

    private func replaceDescriptors() -> Bool {
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        defer { close(file) }
        for descriptor in descriptors { while dup2(file, descriptor) < 0, errno == EINTR {} }
        return true
    }

    /// Later than every other, also when the clock was set back.
    private func formerPath(_ now: Timestamp) -> String {
        let last = FormerLog.names(of: path).last.map(FormerLog.stamp)
        var moment = now
        while true {
            let stamp = moment.iso8601.filter { $0 != "-" && $0 != ":" && $0 != "." }
            guard let last, stamp <= last, let previous = Self.moment(last) else { return "\(path).\(stamp)" }
            moment = previous + .milliseconds(1)
        }
    }

    /// Removes former files that are too old, or too many with those of other programs in the folder.
    private mutating func prune() {
        let folder = FormerLog.split(path).folder
        var programs = 0
        var former: [(name: String, size: Int)] = []
        let oldest = clock.now() - .seconds(retention.days * 86_400)
        for name in FormerLog.names(in: folder) {
            if name.hasSuffix(".log") { programs += 1 }
            guard FormerLog.log(of: name) != nil else { continue }
            var facts = stat()
            guard stat("\(folder)/\(name)", &facts) == 0 else { continue }
            if let end = Self.moment(FormerLog.stamp(of: name)), end < oldest {
                unlink("\(folder)/\(name)")
            } else {
                former.append((name, Int(facts.st_size)))
            }
        }
        limit = retention.fileBytes(programs: programs)
        var total = former.reduce(limit * programs) { $0 + $1.size }
        for file in former.sorted(by: { FormerLog.stamp(of: $0.name) < FormerLog.stamp(of: $1.name) }) where total > retention.allBytes {
            unlink("\(folder)/\(file.name)")
            total -= file.size
        }
    }

    private static func size(_ descriptor: Int32) -> Int {
        var facts = stat()
        return fstat(descriptor, &facts) == 0 ? Int(facts.st_size) : 0
    }

    /// The moment of a file's first line.
    private static func firstMoment(_ path: String) -> Timestamp? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        let beginning = Data(#"{"time":""#.utf8)
        guard let octets = try? file.read(upToCount: beginning.count + 24), octets.starts(with: beginning) else { return nil }
        return moment(String(decoding: octets.dropFirst(beginning.count), as: UTF8.self).filter { $0 != "-" && $0 != ":" && $0 != "." }[...])
    }

    /// - Parameter stamp: `20310304T100000000Z`.
    private static func moment(_ stamp: Substring) -> Timestamp? {
        let digits = stamp.utf8.compactMap { (0x30...0x39).contains($0) ? Int($0) - 0x30 : nil }
        guard digits.count == 17 else { return nil }
        func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 10 + $1 } }
        guard let date = CivilDate(year: number(0..<4), month: number(4..<6), day: number(6..<8)) else { return nil }
        let seconds = ((date.daysSince1970 * 24 + number(8..<10)) * 60 + number(10..<12)) * 60 + number(12..<14)
        return Timestamp(milliseconds: Int64(seconds) * 1000 + Int64(number(14..<17)))
    }
}

/// Tells a file from others, whatever its name is.
struct FileIdentity: Equatable {
    private let device: UInt64
    private let number: UInt64

    init?(path: String) {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        (device, number) = (UInt64(facts.st_dev), UInt64(facts.st_ino))
    }

    init?(descriptor: Int32) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { return nil }
        (device, number) = (UInt64(facts.st_dev), UInt64(facts.st_ino))
    }

    /// - Parameter text: Device and number as `JOURNAL_STREAM` has them (systemd.exec(5)): `8:12345`.
    init?(journalStream text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).compactMap { UInt64($0) }
        guard parts.count == 2 else { return nil }
        (device, number) = (parts[0], parts[1])
    }
}

/// Names of a program's log files: `NAME.log` is written now, `NAME.log.20310304T100000000Z` was written until that moment.
package enum FormerLog {
    /// The former files of a log, oldest first.
    /// - Parameter log: The path of `NAME.log`.
    package static func names(of log: String) -> [String] {
        let (folder, name) = split(log)
        return names(in: folder).filter { self.log(of: $0) == name }.sorted()
    }

    /// The log that a former file belongs to; `nil`: it is none.
    /// - Parameter name: The name of the file, without its folder.
    package static func log(of name: String) -> String? {
        guard let dot = name.lastIndex(of: "."), isStamp(name[name.index(after: dot)...]) else { return nil }
        let log = name[..<dot]
        return log.hasSuffix(".log") && log.utf8.count > 4 ? String(log) : nil
    }

    /// The moment in a former file's name.
    static func stamp(of name: String) -> Substring { name.suffix(19) }

    static func names(in folder: String) -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] }

    static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        return (String(path[..<slash]), String(path[path.index(after: slash)...]))
    }

    private static func isStamp(_ text: Substring) -> Bool {
        let octets = Array(text.utf8)
        return octets.count == 19 && octets[8] == UInt8(ascii: "T") && octets[18] == UInt8(ascii: "Z")
            && octets.enumerated().allSatisfy { $0 == 8 || $0 == 18 || (0x30...0x39).contains($1) }
    }
}

/// The severity that the journal gets of a line: `<3>` before it (sd-daemon(3)), which it takes away again.
struct JournalSeverity: Sendable {
    /// Standard output leads to the journal. It does not where a variable of somebody else was inherited, for example from a desktop session, and the log is a file.
    static let ofOutput = JournalSeverity(of: STDOUT_FILENO)
    static let ofError = JournalSeverity(of: STDERR_FILENO)

    private let isHeard: Bool

    init(of descriptor: Int32, environment: [String: String] = ProcessInfo.processInfo.environment) {
        let stream = environment["JOURNAL_STREAM"].flatMap { FileIdentity(journalStream: $0) }
        isHeard = stream != nil && stream == FileIdentity(descriptor: descriptor)
    }

    /// The line with its severity before it; as it is where nobody would take that away.
    func marked(_ line: [UInt8], _ level: Logger.Level) -> [UInt8] {
        guard isHeard else { return line }
        return [UInt8(ascii: "<"), UInt8(ascii: "0") + Self.number(level), UInt8(ascii: ">")] + line
    }

    /// The number of syslog(3).
    private static func number(_ level: Logger.Level) -> UInt8 {
        switch level {
        case .critical: 2
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug, .trace: 7
        }
    }
}
