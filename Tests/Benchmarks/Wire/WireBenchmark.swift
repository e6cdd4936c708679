import ArgumentParser

/// Measures the wire against a C server over epoll and OpenSSL, on the same machine in the same run.
@main
struct WireBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wire-benchmark", abstract: "Measures the wire against a C server on the same machine.",
        subcommands: [CompareCommand.self, CallersCommand.self, ServeCommand.self], defaultSubcommand: CompareCommand.self)
}
