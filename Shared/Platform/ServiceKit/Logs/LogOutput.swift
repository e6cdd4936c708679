internal import Logging

/// Where log lines go.
struct LogOutput: Sendable {
    let write: @Sendable (_ line: [UInt8], _ level: Logger.Level) -> Void

    /// The process's standard output; lines of several threads do not mix.
    static let standard = LogOutput { line, level in
        LogWriter.standard.add(JournalSeverity.ofOutput.marked(line, level), isUrgent: level >= .warning)
    }
}
