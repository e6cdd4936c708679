import ArgumentParser

/// Measures the HTTP path of a whole cluster against a bare server and bare signatures.
@main
struct GatewayBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway-benchmark", abstract: "Measures a cluster through its gateway.",
        subcommands: [RunCommand.self, FleetCommand.self, FormerAppsCommand.self, HangingProviderCommand.self, HelloCommand.self],
        defaultSubcommand: RunCommand.self)
}
