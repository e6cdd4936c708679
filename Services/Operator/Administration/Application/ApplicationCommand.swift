package import ArgumentParser
internal import CatalogueFiles
internal import CommandKit

/// `boxoffice application`: identities that apps bring along.
package struct ApplicationCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "application", abstract: "Import key pairs, statements and clients that apps already have.",
        discussion: "What is changed stands in the administrator's draft until it is pushed: here with --push, or by 'boxoffice draft push'.",
        subcommands: [ApplicationKeyCommand.self, ApplicationStatementCommand.self, ApplicationClientCommand.self])

    package init() {}
}

/// `boxoffice application key`.
struct ApplicationKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Key pairs that apps from before client registration sign their requests with.",
        subcommands: [KeyMakeCommand.self, KeyImportCommand.self, KeyListCommand.self, KeyDisableCommand.self])
}

/// `boxoffice application statement`.
struct ApplicationStatementCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "statement", abstract: "Software statements that another vendor signed.", subcommands: [StatementAddCommand.self])
}

/// `boxoffice application client`.
struct ApplicationClientCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "client", abstract: "Clients that another vendor registered.", subcommands: [ClientImportCommand.self])
}

/// Whether what was changed is pushed at once.
struct PushOptions: ParsableArguments {
    @Flag(help: "Push the draft at once. What else it holds is listed, and on a terminal the person is asked.")
    var push = false

    @Flag(help: "Print JSON.")
    var json = false

    /// For what is said beside JSON.
    var console: Console { Console(isQuiet: json) }

    /// - Parameters:
    ///   - description: Of the push.
    ///   - application: The one that was changed.
    ///   - facts: What was done, for programs.
    /// - Throws: `CommandFailure` with what the cluster says.
    func finish(_ description: String, of application: String, facts: [String: Any]) async throws {
        let place = EntityKey(.applications, application)
        var pushed: OpenDraft.Pushed?
        if push {
            pushed = try await OpenDraft.push([place], description, console, asks: !json)
        } else if try await !OpenDraft.read().places.contains(place) {
            pushed = .isLive
        }
        console.line(pushed?.line ?? "In the draft; it counts once that is pushed (--push, or 'boxoffice draft push').")
        guard json else { return }
        var members = facts.merging(["application": application, "push": pushed?.word ?? "draft"]) { $1 }
        members["version"] = pushed?.version
        try JsonOutput.show(members)
    }
}

/// Where a secret comes from: never from the command line, where others could see it.
struct SecretSource: ParsableArguments {
    @Option(help: "A file with the secret, instead of standard input.")
    var file: String?

    func read() throws -> String { try SecretSetCommand.read(file) }
}
