internal import Foundation

extension MachineFacts {
    /// This machine.
    public static func current() -> MachineFacts {
        let processor = value(of: "model name", in: "/proc/cpuinfo") ?? "unknown processor"
        let system = value(of: "PRETTY_NAME", in: "/etc/os-release", separator: "=")?.replacing("\"", with: "") ?? "Linux"
        let kernel = (try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8))?.trimmingCharacters(in: .whitespacesAndNewlines)
        return MachineFacts(
            processor: processor, cores: ProcessInfo.processInfo.activeProcessorCount, memoryBytes: ProcessInfo.processInfo.physicalMemory,
            system: [system, kernel].compactMap { $0 }.joined(separator: ", "), build: build)
    }

    private static var build: String {
        #if DEBUG
        "debug"
        #else
        "release"
        #endif
    }

    private static func value(of key: String, in path: String, separator: Character = ":") -> String? {
        guard let content = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        let line = content.split(separator: "\n").first { $0.hasPrefix(key) }
        return line?.split(separator: separator, maxSplits: 1).last?.trimmingCharacters(in: .whitespaces)
    }
}
