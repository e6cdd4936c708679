package import ArgumentParser
internal import CommandKit
internal import Foundation
internal import TextEncodings

/// `boxoffice secret`: secrets that the catalogue refers to.
package struct SecretCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "secret", abstract: "Write secrets that the catalogue refers to, list their references, and say whose a file is.",
        subcommands: [SecretSetCommand.self, SecretListCommand.self, SecretOwnerCommand.self])

    package init() {}
}

/// `boxoffice secret set REFERENCE`.
struct SecretSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Store a secret under a reference, for example a client secret from an MVPD.",
        discussion: """
            The secret is read from standard input, or from --file, never from the command line, where others could see it. White space around it does \
            not count. Then name the reference in the catalogue (clientSecretReference) and push it. One that a version names already is not \
            overwritten: write a new one.
            """)

    @Argument(help: "Letters, digits, '_' and '-'.")
    var reference: String

    @Option(help: "A file with the secret, instead of standard input.")
    var file: String?

    @Option(help: "The programmer who owns it; without it, the operators.")
    var programmer: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let secret = try Self.read(file)
        var body = ["secret": secret]
        body["programmer"] = programmer
        let answer = try await AdministrationCall.send(
            "POST", "/secrets/\(FormEncoding.encode(reference))", body: try AdministrationCall.json(body))
        let replaced = answer.object["replaced"] as? Bool == true
        guard !json else { return try JsonOutput.show(["reference": reference, "replaced": replaced]) }
        Console().line("\(reference): \(replaced ? "replaced" : "kept"); name it in the catalogue and push")
    }
}

extension SecretSetCommand {
    /// A secret without the white space around it.
    /// - Parameter file: `nil`: standard input.
    /// - Throws: `CommandFailure` when there is none.
    static func read(_ file: String?) throws -> String {
        let content = try file.map { try TextFile.read($0) } ?? String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self)
        let secret = content.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !secret.isEmpty else { throw CommandFailure("there is no secret", advice: "give it on standard input, or name its file with --file") }
        return secret
    }
}

/// `boxoffice secret list`.
struct SecretListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the references that have a secret.")

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let answer = try await AdministrationCall.send("GET", "/secrets")
        guard !json else { return print(answer.text) }
        let secrets = answer.object["secrets"] as? [[String: Any]] ?? []
        if secrets.isEmpty { Console().line("no reference has a secret") }
        for secret in secrets {
            let owner = secret["programmer"] as? String ?? (secret["open"] as? Bool == true ? "open: 'boxoffice secret owner' decides" : "operators")
            Console().line("\(secret["reference"] as? String ?? "")  \(owner)  \(secret["kept"] as? String ?? "")")
        }
    }
}

/// `boxoffice secret owner REFERENCE`.
struct SecretOwnerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "owner", abstract: "Say whose the file of a secret is.",
        discussion: """
            Entries of that programmer alone may newly name it; a file about which nothing is said is the operators'. What names it already stays, and \
            stays editable. 'boxoffice secret list' has those that are open: entries of several name them. A written secret keeps its owner.
            """)

    @Argument(help: "The reference, as the catalogue has it.")
    var reference: String

    @Option(help: "The programmer; without it, the operators.")
    var programmer: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        var body: [String: Any] = [:]
        body["programmer"] = programmer
        let answer = try await AdministrationCall.send(
            "PUT", "/secrets/\(FormEncoding.encode(reference))/owner", body: try AdministrationCall.json(body))
        guard !json else { return print(answer.text) }
        Console().line("\(reference): \(programmer.map { "\($0)'s" } ?? "the operators'")")
    }
}
