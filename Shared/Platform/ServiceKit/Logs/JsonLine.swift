internal import Clocks
internal import Foundation
public import Logging

/// A JSON object on one line, built member by member.
struct JsonLine {
    private var bytes: [UInt8] = []

    init() {
        bytes.reserveCapacity(512)
        bytes.append(UInt8(ascii: "{"))
    }

    mutating func add(_ name: String, _ value: String) {
        begin(name)
        quote(value)
    }

    mutating func add(_ name: String, _ value: Logger.Metadata.Value) {
        begin(name)
        append(value)
    }

    /// - Parameter name: Has nothing that JSON escapes.
    mutating func add(plain name: StaticString, _ value: String) {
        begin(plain: name)
        quote(value)
    }

    mutating func add(plain name: StaticString, _ value: Int64) {
        begin(plain: name)
        bytes.append(contentsOf: String(value).utf8)
    }

    mutating func add(plain name: StaticString, _ flag: Bool) {
        begin(plain: name)
        bytes.append(contentsOf: (flag ? "true" : "false").utf8)
    }

    /// - Parameter number: A number in JSON's form.
    mutating func add(_ name: String, number: String) {
        begin(name)
        bytes.append(contentsOf: number.utf8)
    }

    /// The members that were added so far, to be added to other lines.
    var members: [UInt8] { Array(bytes.dropFirst()) }

    /// - Parameter members: The members of another line, at least one.
    mutating func add(members: [UInt8]) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        bytes.append(contentsOf: members)
    }

    /// The line with its end.
    consuming func finished() -> [UInt8] {
        bytes.append(UInt8(ascii: "}"))
        bytes.append(0x0a)
        return bytes
    }

    private mutating func begin(_ name: String) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        quote(name)
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func begin(plain name: StaticString) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func append(_ value: Logger.Metadata.Value) {
        switch value {
        case .string(let string): quote(string)
        case .stringConvertible(let flag as Bool): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
        case .stringConvertible(let value): quote(value.description)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                append(value)
            }
            bytes.append(UInt8(ascii: "]"))
        case .dictionary(let members):
            var inner = JsonLine()
            for (name, value) in members.sorted(by: { $0.key < $1.key }) { inner.add(name, value) }
            bytes.append(contentsOf: inner.finished().dropLast())
        }
    }

    private mutating func quote(_ string: String) {
        bytes.append(UInt8(ascii: "\""))
        let isPlain = string.utf8.withContiguousStorageIfAvailable { text in
            guard text.allSatisfy({ $0 >= 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) else { return false }
            bytes.append(contentsOf: text)
            return true
        }
        if isPlain != true { escape(string) }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ string: String) {
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x0a: bytes += Array(#"\n"#.utf8)
            case 0x00..<0x20, 0x7f: bytes += Array((byte < 0x10 ? #"\u000"# : #"\u00"#).utf8) + Array(String(byte, radix: 16).utf8)
            default: bytes.append(byte)
            }
        }
    }
}

/// A program's log on standard output, for programs that are no services of the wire; `ServiceProgram` begins it by itself.
public enum ProgramLog {
    /// To be called once, before anything is logged.
    /// - Parameter name: The name of the program.
    public static func begin(_ name: String) { begin(name, LogRetention()) }

    /// Adds a line with its end; never waits.
    /// - Parameter level: From `warning` on it goes out at once.
    public static func add(_ line: [UInt8], level: Logger.Level) { LogOutput.standard.write(line, level) }

    /// Writes what was added; later lines are dropped.
    public static func close() { LogWriter.standard.close() }

    static func begin(_ name: String, _ retention: LogRetention, clock: any WallClock = SystemClock()) {
        let path = ProcessInfo.processInfo.environment[LogFiles.variable]
        let files = LogFiles(path: path, retention: retention, clock: clock)
        LogWriter.standard.begin(files, notices: notices(name, clock, isErrorApart: isErrorApart))
    }

    /// Lines on standard error would stand in the log, too, where both are the same.
    private static var isErrorApart: Bool { FileIdentity(descriptor: STDOUT_FILENO) != FileIdentity(descriptor: STDERR_FILENO) }

    static func notices(_ name: String, _ clock: any WallClock, isErrorApart: Bool) -> LogNotices {
        var notices = LogNotices()
        notices.line = { lost, reason in writtenAgain(name, clock, lost, reason) }
        if isErrorApart { notices.aside = { text in StandardStream.error.write(Data("\(name): \(text)".utf8)) } }
        return notices
    }

    private static func writtenAgain(_ name: String, _ clock: any WallClock, _ lost: Int, _ reason: String) -> [UInt8] {
        var line = JsonLine()
        line.add("time", clock.now().iso8601)
        line.add("level", Logger.Level.warning.rawValue)
        line.add("service", name)
        line.add("event", "log.written_again")
        line.add("lost_lines", number: "\(lost)")
        line.add("reason", reason)
        return JournalSeverity.ofOutput.marked(line.finished(), .warning)
    }
}
