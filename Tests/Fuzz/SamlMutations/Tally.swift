/// The results of the mutants.
struct Tally: Sendable {
    var mutants = 0
    var accepted: [String: Int] = [:]
    var rejected: [String: Int] = [:]
    /// Accepted mutants that mean something else: there must be none.
    var changed: [String] = []

    mutating func add(_ other: Tally) {
        mutants += other.mutants
        accepted.merge(other.accepted, uniquingKeysWith: +)
        rejected.merge(other.rejected, uniquingKeysWith: +)
        changed += other.changed
    }

    func lines(seconds: Double) -> [String] {
        let good = accepted.values.reduce(0, +)
        var lines = ["\(mutants) mutants in \(Int(seconds.rounded())) s, \(Int(Double(mutants) / seconds)) mutants/s"]
        lines.append("accepted with the same meaning: \(good)")
        lines += accepted.sorted { $0.value > $1.value }.map { "  \($0.key): \($0.value)" }
        lines.append("rejected: \(mutants - good - changed.count)")
        lines += rejected.sorted { $0.value > $1.value }.map { "  \($0.key): \($0.value)" }
        lines.append("accepted with another meaning: \(changed.count)")
        return lines + changed.prefix(20).map { "  \($0)" }
    }
}
