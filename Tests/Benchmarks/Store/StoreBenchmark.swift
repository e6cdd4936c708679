import ArgumentParser

/// Measures authentication's store with few and with many sessions, and on both engines.
@main
struct StoreBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store-benchmark", abstract: "Measures authentication's store with few and with many sessions, and on both engines.",
        subcommands: [FillCommand.self, CompareCommand.self, EnginesCommand.self, GrowthCommand.self, PeopleCommand.self])
}

/// Why there is nothing to measure.
struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
