internal import ArgumentParser
internal import CommandKit
internal import Cryptography
internal import Foundation

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
