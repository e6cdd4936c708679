internal import Clocks
internal import Foundation
public import Logging
internal import StrictJson

/// A JSON object on one line, built member by member.
struct JsonLine {
    private var json = JsonWriter([.lineFeed, .delete])

    init() { json.beginObject() }

    mutating func add(_ name: String, _ value: String) {
        json.name(name)
        json.string(value)
    }

    mutating func add(_ name: String, _ value: Logger.Metadata.Value) {
        json.name(name)
        append(value)
    }

    /// - Parameter name: Has nothing that JSON escapes.
    mutating func add(plain name: StaticString, _ value: String) { json.member(name, value) }

    mutating func add(plain name: StaticString, _ value: Int64) { json.member(name, value) }

    mutating func add(plain name: StaticString, _ flag: Bool) { json.member(name, flag) }

    /// - Parameter number: A number in JSON's form.
    mutating func add(_ name: String, number: String) {
        json.name(name)
        json.written(number)
    }

    /// The members that were added so far, to be added to other lines.
    var members: [UInt8] { Array(json.bytes.dropFirst()) }

    /// - Parameter members: The members of another line, at least one.
    mutating func add(members: [UInt8]) { json.written(members) }

    /// The line with its end.
    consuming func finished() -> [UInt8] {
        json.endObject()
        json.endLine()
        return json.bytes
    }

    private mutating func append(_ value: Logger.Metadata.Value) {
        switch value {
        case .string(let string): json.string(string)
        case .stringConvertible(let flag as Bool): json.bool(flag)
        case .stringConvertible(let value): json.string(value.description)
        case .array(let values):
            json.beginArray()
            for value in values { append(value) }
            json.endArray()
        case .dictionary(let members):
            json.beginObject()
            for (name, value) in members.sorted(by: { $0.key < $1.key }) { add(name, value) }
            json.endObject()
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
