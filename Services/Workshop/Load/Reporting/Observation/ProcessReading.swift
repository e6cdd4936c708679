internal import Foundation

/// The facts of `/proc` about a process (proc(5)).
package struct ProcessReading: Equatable, Sendable {
    /// User and system time since its start.
    package let cpuSeconds: Double
    package let residentBytes: Int
    package let threads: Int
    /// Clock ticks after the machine's start: tells a process from another one with the same id.
    package let startTicks: UInt64

    /// - Parameters:
    ///   - stat: The content of `/proc/{pid}/stat`.
    ///   - ticksPerSecond: `_SC_CLK_TCK`.
    ///   - pageSize: Bytes.
    init?(stat: String, ticksPerSecond: Double, pageSize: Int) {
        // The program's name, field 2, may hold anything, blanks and parentheses too; nothing after it does.
        guard let name = stat.lastIndex(of: ")") else { return nil }
        let fields = stat[stat.index(after: name)...].split(whereSeparator: \.isWhitespace)
        guard fields.count > 21, let user = Double(fields[11]), let system = Double(fields[12]), let threads = Int(fields[17]),
            let start = UInt64(fields[19]), let pages = Int(fields[21]), user >= 0, system >= 0, pages >= 0, ticksPerSecond > 0
        else { return nil }
        cpuSeconds = (user + system) / ticksPerSecond
        residentBytes = pages.multipliedReportingOverflow(by: pageSize).partialValue
        self.threads = threads
        startTicks = start
    }

    /// - Returns: `nil` when there is no such process, or it may not be looked at.
    package static func read(_ pid: Int32) -> ProcessReading? {
        guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return nil }
        return ProcessReading(stat: stat, ticksPerSecond: Double(sysconf(Int32(_SC_CLK_TCK))), pageSize: Int(sysconf(Int32(_SC_PAGESIZE))))
    }
}

/// The work of all processors of the machine.
struct MachineReading: Equatable, Sendable {
    /// Seconds, over all processors, in which they were not idle.
    let busySeconds: Double
    /// Seconds that other guests of the same host took.
    let stolenSeconds: Double

    /// - Parameter stat: The content of `/proc/stat`; its first line is user, nice, system, idle, iowait, irq, softirq, steal.
    init?(stat: String, ticksPerSecond: Double) {
        let words = stat.prefix { $0 != "\n" }.split(separator: " ")
        let fields = words.dropFirst().compactMap { Double($0) }
        guard words.first == "cpu", fields.count >= 8, ticksPerSecond > 0 else { return nil }
        busySeconds = (fields[0] + fields[1] + fields[2] + fields[5] + fields[6]) / ticksPerSecond
        stolenSeconds = fields[7] / ticksPerSecond
    }

    static func read() -> MachineReading? {
        guard let stat = try? String(contentsOfFile: "/proc/stat", encoding: .utf8) else { return nil }
        return MachineReading(stat: stat, ticksPerSecond: Double(sysconf(Int32(_SC_CLK_TCK))))
    }
}
