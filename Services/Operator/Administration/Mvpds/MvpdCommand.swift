package import ArgumentParser

/// `boxoffice mvpd`: connects an MVPD, and tries it.
package struct MvpdCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "mvpd", abstract: "Connect an MVPD by its metadata, and try a sign-in at it.",
        subcommands: [MvpdAddCommand.self, MvpdTestCommand.self])

    package init() {}
}
