import Synchronization

/// The experiments that were run once more. Budgets bound times and shares, which a machine that was busy at that moment overruns; twice in a row is
/// no such moment.
final class SecondTries: Sendable {
    /// The finding of one run.
    struct Finding: Sendable {
        let problems: [String]
        /// An answer that may never come, or none at all: no busy machine excuses that.
        let isFinal: Bool
    }

    private let names = Mutex<[String]>([])
    private let reporter: Reporter

    init(_ reporter: Reporter) { self.reporter = reporter }

    /// - Parameter once: Runs it; its argument is the number of the try, from 0 on.
    /// - Returns: The problems of the last run.
    func run(_ name: String, _ once: (Int) async throws -> Finding) async throws -> [String] {
        let first = try await once(0)
        guard !first.problems.isEmpty, !first.isFinal else { return first.problems }
        reporter.line("      \(name) is tried once more")
        names.withLock { $0.append(name) }
        return try await once(1).problems
    }

    /// The line that `Tests/run` repeats in its summary.
    func report() {
        let names = names.withLock { $0 }
        if !names.isEmpty { reporter.line("      tried twice: \(names.joined(separator: ", "))") }
    }
}

extension SecondTries.Finding {
    init(_ verdict: Verdict) { self.init(problems: verdict.problems, isFinal: verdict.isFinal) }
}
