#if canImport(Glibc)
internal import Glibc
#endif
internal import Foundation
internal import Telemetry

/// The facts and costs of the process, read when somebody asks.
enum ProcessMetrics {
    static func text() -> String {
        facts().reduce(into: "") { text, fact in
            let labels = fact.labels.map { "\($0.name)=\"\($0.value)\"" }.joined(separator: ",")
            text += MetricHelp.head(fact.name, fact.type) + fact.name + (labels.isEmpty ? "" : "{\(labels)}") + " \(fact.written)\n"
        }
    }

    static func series() -> [MetricSeries] {
        facts().map { MetricSeries($0.name, help: MetricHelp.text($0.name) ?? "", labels: $0.labels, $0.value) }
    }

    private struct Fact {
        let name: String
        let type: String
        var labels: [MetricSeries.Label] = []
        let value: MetricSeries.Value
        /// As Prometheus reads it.
        let written: String
    }

    private static func facts() -> [Fact] {
        // A constant 1 with its facts as labels, as Prometheus has it for facts that are no numbers.
        let labels = [("version", SoftwareVersion.current), ("build", SoftwareVersion.build), ("commit", SoftwareVersion.commit)]
        var facts = [
            Fact(
                name: "boxoffice_build_info", type: "gauge", labels: labels.map { MetricSeries.Label($0, $1) }, value: .gauge(1), written: "1")
        ]
        if let bytes = residentBytes() {
            facts.append(Fact(name: "boxoffice_process_resident_bytes", type: "gauge", value: .gauge(Double(bytes)), written: "\(bytes)"))
        }
        var usage = rusage()
        if getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 {
            let seconds = Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
            facts.append(Fact(name: "boxoffice_process_cpu_seconds_total", type: "counter", value: .sum(seconds), written: "\(seconds)"))
        }
        return facts
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
