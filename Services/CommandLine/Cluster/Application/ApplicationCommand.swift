public import ArgumentParser

/// `boxoffice application`: identities that apps bring along.
public struct ApplicationCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "application", abstract: "Import key pairs, statements and clients that apps already have.",
        discussion: "What is changed stands in the administrator's draft until it is pushed: here with --push, or by the administration API.",
        subcommands: [ApplicationKeyCommand.self, ApplicationStatementCommand.self, ApplicationClientCommand.self])

    public init() {}
}

/// `boxoffice application key`.
public struct ApplicationKeyCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Key pairs that apps from before client registration sign their requests with.",
        subcommands: [KeyMakeCommand.self, KeyImportCommand.self, KeyListCommand.self, KeyDisableCommand.self])

    public init() {}
}

/// `boxoffice application statement`.
public struct ApplicationStatementCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "statement", abstract: "Software statements that another vendor signed.", subcommands: [StatementAddCommand.self])

    public init() {}
}

/// `boxoffice application client`.
public struct ApplicationClientCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "client", abstract: "Clients that another vendor registered.", subcommands: [ClientImportCommand.self])

    public init() {}
}

/// Whether what was changed is pushed at once.
struct PushOptions: ParsableArguments {
    @Flag(help: "Push the draft at once, with everything in it.")
    var push = false

    @Flag(help: "Print JSON.")
    var json = false

    /// For what is said beside JSON.
    var console: Console { Console(isQuiet: json) }

    /// - Parameters:
    ///   - description: Of the push.
    ///   - facts: What was done, for programs.
    /// - Throws: `CommandFailure` with what the cluster says.
    func finish(_ description: String, facts: [String: Any]) async throws {
        let version = push ? try await AdministrationCall.push(description) : nil
        let state = push ? version == nil ? "waits" : "pushed" : "draft"
        switch state {
        case "draft": console.line("In the draft; it counts once that is pushed (--push, or POST /admin/v1/draft/push).")
        case "waits": console.line("The push waits for a second person's approval.")
        default: console.line("Pushed as version \(version ?? 0).")
        }
        guard json else { return }
        var members = facts.merging(["push": state]) { $1 }
        if let version { members["version"] = version }
        try JsonOutput.show(members)
    }
}

/// Where a secret comes from: never from the command line, where others could see it.
struct SecretSource: ParsableArguments {
    @Option(help: "A file with the secret, instead of standard input.")
    var file: String?

    func read() throws -> String { try SecretSetCommand.read(file) }
}
