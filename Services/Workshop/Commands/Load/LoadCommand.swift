package import ArgumentParser

/// `boxoffice load`: puts load on one service.
package struct LoadCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Put load on one service and measure it.",
        subcommands: [LoadServiceCommand.self, LoadCompareCommand.self, LoadJoinCommand.self],
        defaultSubcommand: LoadServiceCommand.self
    )

    package init() {}
}
