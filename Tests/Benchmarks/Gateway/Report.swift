import Foundation

/// Prints what was measured, as Markdown.
struct Report {
    /// Prints a line at once, also into a file or pipe.
    static func line(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

    static func machine(cores: Int) {
        let model =
            (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.split(separator: "\n").first { $0.hasPrefix("model name") }?
            .split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown processor"
        let load = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8))?.split(separator: " ").prefix(3).joined(separator: " ") ?? "?"
        let date = ISO8601DateFormatter().string(from: Date())
        line("\(date), \(cores) cores (\(model)), load average \(load) at the start\n")
    }

    static func ceiling(_ result: LoadProgram.Result) {
        line(
            String(
                format: "The load's own ceiling, with a server in C: %.0f calls/s (p50 %.0f µs, p99 %.0f µs), %.1f µs of CPU per call.",
                result.callsPerSecond, result.p50, result.p99, result.ownCost))
    }

    static func sync(_ cost: SyncCost, connections: Int) {
        line(
            String(
                format: "One fsync in the data folder: %.0f µs; %d callers per fsync would be %.0f calls/s at most.\n", cost.microseconds,
                connections, Double(connections) * 1e6 / cost.microseconds))
    }

    static func header() {
        line("| Operation | calls/s | p50, p99 µs | hello calls/s | of hello | signatures/s | of signatures | goal | others' CPU |")
        line("|---|---|---|---|---|---|---|---|---|")
    }

    static func row(_ comparison: Comparison) {
        let signatures = comparison.rounds.contains { $0.signatures != nil }
        let cells = [
            comparison.scenario.name,
            String(format: "%.0f", comparison.median { $0.target.callsPerSecond }),
            String(format: "%.0f, %.0f", comparison.median { $0.target.p50 }, comparison.median { $0.target.p99 }),
            String(format: "%.0f", comparison.median { $0.hello.callsPerSecond }),
            text(comparison.helloRatio),
            signatures ? String(format: "%.0f", comparison.median { $0.signatures ?? .nan }) : "",
            signatures ? text(comparison.signatureRatio) : "",
            "\(comparison.scenario.goal) \(comparison.isMet ? "met" : "missed")"
                + (comparison.unexpected > 0 ? ", \(comparison.unexpected) wrong answers" : ""),
            String(format: "%.0f %%", comparison.median { $0.otherShare } * 100),
        ]
        line("| " + cells.joined(separator: " | ") + " |")
    }

    static func cost(_ comparison: Comparison) {
        let parts = comparison.costs.map { String(format: "%@ %.0f", $0.process, $0.microseconds) }.joined(separator: ", ")
        var text = "- \(comparison.scenario.name): \(parts)"
        if comparison.rounds.contains(where: { $0.signatures != nil }) {
            let bare = comparison.median { round in Double(ProcessInfo.processInfo.activeProcessorCount) * 1e6 / (round.signatures ?? .nan) }
            text += String(format: "; a bare signature %.0f", bare)
        }
        line(text)
    }

    /// - Returns: True when every call of REST v2 that was measured costs little enough.
    static func successions(_ comparisons: [Comparison]) -> Bool {
        let measured = Succession.all.compactMap { pair in pair.ratio(comparisons).map { (pair, $0) } }
        guard !measured.isEmpty else { return true }
        line("\nCPU of REST v2's calls over that of the calls which they replace:\n")
        for (pair, ratio) in measured {
            line(
                String(
                    format: "- %@ over %@: %.2f, goal %.1f %@", pair.call, pair.replaced.joined(separator: " and "), ratio, pair.goal,
                    ratio <= pair.goal ? "met" : "missed"))
        }
        return measured.allSatisfy { $0.1 <= $0.0.goal }
    }

    private static func text(_ spread: Spread) -> String {
        String(format: "%.2f (%.2f–%.2f)", spread.median, spread.least, spread.most)
    }
}
