package import ArgumentParser
internal import CatalogueFiles
internal import CommandKit
internal import Cryptography
internal import Foundation

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

/// The options by which a change is pushed at once.
struct PushOptions: ParsableArguments {
    @Flag(help: "Push the draft at once. What else it holds is listed, and on a terminal the person is asked.")
    var push = false

    @Flag(help: "Print JSON.")
    var json = false

    /// For what is said beside JSON.
    var console: Console { Console(isQuiet: json) }

    /// - Parameters:
    ///   - description: The description of the push.
    ///   - application: The one that was changed.
    ///   - facts: The facts about the change, for programs.
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

/// A secret comes from here: never from the command line, where others could see it.
struct SecretSource: ParsableArguments {
    @Option(help: "A file with the secret, instead of standard input.")
    var file: String?

    func read() throws -> String { try SecretSetCommand.read(file) }
}

/// `boxoffice application statement add APPLICATION FILE`.
struct StatementAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Let apps register with a software statement that another vendor signed.",
        discussion: "Only its SHA-256 is stored: the text works like a password, and its signature is not checked.")

    @Argument(help: "The application's id.")
    var application: String

    @Argument(help: "The file with the statement, in compact form.")
    var file: String

    @OptionGroup var pushing: PushOptions

    func run() async throws {
        let statement = try TextFile.read(file).trimmingCharacters(in: .whitespacesAndNewlines)
        let parts = statement.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, !parts.contains(where: \.isEmpty), !statement.utf8.contains(where: { $0 <= 0x20 }) else {
            throw CommandFailure("\(file) holds no software statement", advice: "it is three parts of Base64url with dots between them")
        }
        let digest = Hex.encode(SHA256.hash(statement))
        var entry = try await ApplicationEntry.read(application)
        if entry.statements.contains(digest) {
            pushing.console.line("\(application) has it already: \(digest)")
        } else {
            entry.statements.append(digest)
            try await entry.write()
            pushing.console.line("\(application): \(digest)")
        }
        try await pushing.finish("A statement of another house for \(application)", of: application, facts: ["statement": digest])
    }
}

/// `boxoffice application client import APPLICATION CLIENT-ID`.
struct ClientImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Add a client that is built into an app; its secret comes from standard input or --file.",
        discussion: "All installations of the app are this one client, so it is never told a device's secrets.")

    @Argument(help: "The application's id.")
    var application: String

    @Argument(help: "The client's id.")
    var clientID: String

    @OptionGroup var source: SecretSource
    @OptionGroup var pushing: PushOptions

    func run() async throws {
        let secret = try source.read()
        var entry = try await ApplicationEntry.read(application)
        let reference = "client-\(Hex.encode(SHA256.hash(clientID).prefix(8)))"
        try await entry.removePending(clientID, from: "clients", member: "clientId")
        entry.clients.append(["clientId": clientID, "secret": reference])
        try await entry.write(keeping: secret, as: reference)
        pushing.console.line("\(clientID): imported; its secret is kept as '\(reference)'")
        try await pushing.finish(
            "The client \(clientID) of \(application)", of: application, facts: ["client": clientID, "secretReference": reference])
    }
}
