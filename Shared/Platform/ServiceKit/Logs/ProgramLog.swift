internal import Clocks
internal import Foundation
public import Logging

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
