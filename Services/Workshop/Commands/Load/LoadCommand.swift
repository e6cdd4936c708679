public import ArgumentParser

/// `boxoffice load`: puts load on one service.
public struct LoadCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Put load on one service and measure it.",
        subcommands: [LoadServiceCommand.self, LoadCompareCommand.self, LoadJoinCommand.self],
        defaultSubcommand: LoadServiceCommand.self
    )

    public init() {}
}
