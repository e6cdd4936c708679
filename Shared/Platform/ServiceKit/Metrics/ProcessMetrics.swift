#if canImport(Glibc)
internal import Glibc
#endif
internal import Foundation

/// What the process is and what it costs, read when somebody asks.
enum ProcessMetrics {
    static func text() -> String {
        // A constant 1 with its facts as labels, as Prometheus has it for facts that are no numbers.
        var text = MetricHelp.head("boxoffice_build_info", "gauge")
        text +=
            "boxoffice_build_info{version=\"\(SoftwareVersion.current)\",build=\"\(SoftwareVersion.build)\",commit=\"\(SoftwareVersion.commit)\"} 1\n"
        if let bytes = residentBytes() {
            text += MetricHelp.head("boxoffice_process_resident_bytes", "gauge") + "boxoffice_process_resident_bytes \(bytes)\n"
        }
        var usage = rusage()
        if getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 {
            let seconds = Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
            text += MetricHelp.head("boxoffice_process_cpu_seconds_total", "counter") + "boxoffice_process_cpu_seconds_total \(seconds)\n"
        }
        return text
    }

    /// The second number of `statm` is resident pages (proc(5)).
    private static func residentBytes() -> Int? {
        guard let statm = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let numbers = statm.split(separator: " ")
        guard numbers.count > 1, let pages = Int(numbers[1]) else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}
