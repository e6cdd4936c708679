import ArgumentParser

/// Breaks a cluster of the real programs under load, and tells what that cost.
@main
struct ChaosCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chaos", abstract: "Break a cluster of the real programs under load, and tell what that cost.",
        subcommands: [RunCommand.self, HostsCommand.self, ListCommand.self, ProxyCommand.self], defaultSubcommand: RunCommand.self)
}
