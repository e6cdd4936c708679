internal import Foundation
internal import Logging

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
