internal import Foundation

/// Names a process so that another one of the same machine can tell whether it is still there.
struct CopyHolder: Sendable, Equatable {
    /// The kernel's boot and the process namespace: only within both do process numbers mean the same.
    let place: String
    let process: String
    /// Ticks from the boot to the start, since numbers are used again.
    let start: String

    /// This process. Where the system does not tell, it is told apart by chance alone, and nobody can say that it is gone.
    static let current: CopyHolder = {
        let boot = (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))?.trimmingCharacters(in: .whitespacesAndNewlines)
        let namespace = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid")
        let process = "\(ProcessInfo.processInfo.processIdentifier)"
        guard let boot, let namespace, let start = startTicks(process) else {
            return CopyHolder(place: UUID().uuidString, process: process, start: "0")
        }
        return CopyHolder(place: "\(boot)/\(namespace)", process: process, start: start)
    }()

    init(place: String, process: String, start: String) {
        self.place = place
        self.process = process
        self.start = start
    }

    /// - Parameter text: Of a row.
    init?(_ text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 3 else { return nil }
        self.init(place: String(parts[0]), process: String(parts[1]), start: String(parts[2]))
    }

    var text: String { "\(place) \(process) \(start)" }

    /// True when it certainly is no more; false also where nobody can tell from here.
    var isGone: Bool { place == Self.current.place && Self.startTicks(process) != start }

    /// Field 22 of `/proc/PID/stat`; the name before it may hold anything, so it is counted from the last parenthesis.
    private static func startTicks(_ process: String) -> String? {
        guard process.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8), let end = stat.lastIndex(of: ")")
        else { return nil }
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        return fields.count > 19 ? String(fields[19]) : nil
    }
}
