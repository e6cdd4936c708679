import ArgumentParser

/// Measures authentication's embedded store with few and with many sessions.
@main
struct StoreBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store-benchmark", abstract: "Measures authentication's embedded store with few and with many sessions.",
        subcommands: [FillCommand.self, CompareCommand.self])
}

/// Why there is nothing to measure.
struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
