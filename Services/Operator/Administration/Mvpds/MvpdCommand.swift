public import ArgumentParser

/// `boxoffice mvpd`: connects an MVPD, and tries it.
public struct MvpdCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "mvpd", abstract: "Connect an MVPD by its metadata, and try a sign-in at it.",
        subcommands: [MvpdAddCommand.self, MvpdTestCommand.self])

    public init() {}
}
