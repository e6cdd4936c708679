#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import Foundation
internal import NIOCore
internal import NIOPosix

/// The processors that this program may use: fewer than the machine has where a control group or its affinity (`taskset`, `CPUAffinity=`) says so.
///
/// Event loops beyond that number take turns on a processor, and each of them waits while another has it.
enum ProcessorShare {
    static let count = max(1, min(System.coreCount, affinity ?? .max))

    private static let override = "NIO_SINGLETON_GROUP_LOOP_COUNT"

    /// As many event loops as that, unless the environment says how many. Before the first of them is used.
    static func adopt() {
        guard getenv(override) == nil else { return }
        NIOSingletons.groupLoopCountSuggestion = count
    }

    /// Processors on which the system may run this program; `nil`: it does not say.
    private static var affinity: Int? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        return processors(status: status)
    }

    /// - Parameter status: The text of `/proc/self/status`; its line `Cpus_allowed` is a mask in hexadecimal digits (proc_pid_status(5)).
    /// - Returns: `nil` when the line is missing or empty.
    static func processors(status: String) -> Int? {
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Cpus_allowed:") }) else { return nil }
        let count = line.dropFirst("Cpus_allowed:".count).reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
        return count > 0 ? count : nil
    }
}
