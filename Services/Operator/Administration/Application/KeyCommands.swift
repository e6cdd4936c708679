internal import ArgumentParser
internal import CommandKit
internal import Cryptography
internal import Foundation

/// The rights that a pair may be given.
struct PairOptions: ParsableArguments {
    @Option(help: "A requestor that it signs for; may be repeated. Without it, all of the application's.")
    var requestor: [String] = []

    @Option(help: "Seconds by which a television's clock may differ, 1 to 86400.")
    var window: Int?

    @Option(help: "When it expires, for example 2031-01-31T00:00:00Z.")
    var until: String?

    /// The pair as the catalogue has it.
    func pair(_ publicKey: String, secret: String, of application: ApplicationEntry, strict: Bool, window standard: Int?) -> [String: Any] {
        var pair: [String: Any] = [
            "publicKey": publicKey, "secret": secret, "requestors": requestor.isEmpty ? application.requestors : requestor, "strict": strict,
        ]
        if let window = window ?? standard { pair["window"] = window }
        if let until { pair["until"] = until }
        return pair
    }
}

/// `boxoffice application key make APPLICATION`.
struct KeyMakeCommand: AsyncParsableCommand {
    /// Seconds; a programme that gets a new pair has an app with a right clock.
    private static let window = 300

    static let configuration = CommandConfiguration(
        commandName: "make", abstract: "Make a key pair and print its secret once.",
        discussion:
            "It is strict: each request is signed for itself, and its nonce serves once. --lenient is for apps that sign one header for several calls."
    )

    @Argument(help: "The application's id.")
    var application: String

    @OptionGroup var options: PairOptions

    @Flag(help: "Do not check method, address and nonce; the clock may be a day wrong.")
    var lenient = false

    @OptionGroup var pushing: PushOptions

    func run() async throws {
        var entry = try await ApplicationEntry.read(application)
        let (publicKey, secret) = (Self.letters(24), Self.letters(40))
        let reference = "key-\(publicKey)"
        entry.keys.append(options.pair(publicKey, secret: reference, of: entry, strict: !lenient, window: lenient ? nil : Self.window))
        try await entry.write(keeping: secret, as: reference)
        let console = pushing.console
        console.line("public key  \(publicKey)")
        console.line("secret      \(secret)")
        console.line("The secret is not shown again; it is kept as '\(reference)'.")
        let facts = ["publicKey": publicKey, "secret": secret, "secretReference": reference]
        try await pushing.finish("A key pair for \(application)", of: application, facts: facts)
    }

    /// Letters and digits, as all pairs that were seen have.
    private static func letters(_ count: Int) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
        var text: [UInt8] = []
        // Octets above the last multiple of 62 would favour some letters.
        while text.count < count { text += SecureRandom.bytes(2 * count).filter { $0 < 248 }.map { alphabet[Int($0) % 62] } }
        return String(decoding: text.prefix(count), as: UTF8.self)
    }
}

/// `boxoffice application key import APPLICATION PUBLIC-KEY`.
struct KeyImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Add a key pair that an app already has; its secret comes from standard input or --file.")

    @Argument(help: "The application's id.")
    var application: String

    @Argument(help: "The public key, 8 to 64 letters and digits.")
    var publicKey: String

    @OptionGroup var options: PairOptions

    @Flag(help: "Each request needs a signature of its own, and its nonce works once. Needed for signed requests over plain HTTP.")
    var strict = false

    @OptionGroup var source: SecretSource
    @OptionGroup var pushing: PushOptions

    func run() async throws {
        guard (8...64).contains(publicKey.utf8.count), publicKey.utf8.allSatisfy(Self.isLetterOrDigit) else {
            throw CommandFailure("'\(publicKey)' is not a public key", advice: "it has 8 to 64 letters and digits")
        }
        let secret = try source.read()
        var entry = try await ApplicationEntry.read(application)
        let reference = "key-\(publicKey)"
        try await entry.removePending(publicKey, from: "signingKeys", member: "publicKey")
        entry.keys.append(options.pair(publicKey, secret: reference, of: entry, strict: strict, window: nil))
        try await entry.write(keeping: secret, as: reference)
        pushing.console.line("\(publicKey): imported; its secret is kept as '\(reference)'")
        let facts = ["publicKey": publicKey, "secretReference": reference]
        try await pushing.finish("The key pair \(publicKey) of \(application)", of: application, facts: facts)
    }
}

extension KeyImportCommand {
    private static func isLetterOrDigit(_ octet: UInt8) -> Bool {
        Character(UnicodeScalar(octet)).isASCII && (Character(UnicodeScalar(octet)).isLetter || Character(UnicodeScalar(octet)).isNumber)
    }
}

/// `boxoffice application key list [APPLICATION]`.
struct KeyListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List key pairs, clients and statements of applications; never a secret.")

    @Argument(help: "The application's id; without it, of all.")
    var application: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let entries = if let application { [try await ApplicationEntry.read(application)] } else { try await ApplicationEntry.all() }
        guard !json else {
            let document = entries.map { entry -> [String: Any] in
                ["application": entry.id, "signingKeys": entry.keys, "clients": entry.clients, "legacyStatements": entry.statements]
            }
            return print(try AdministrationCall.json(["applications": document]))
        }
        let console = Console()
        let rows = entries.flatMap(Self.rows)
        if rows.isEmpty { console.line("no application has a key pair, or a client or statement of another vendor") }
        for row in rows { console.line(row) }
    }

    private static func rows(_ entry: ApplicationEntry) -> [String] {
        let keys = entry.keys.map { key -> String in
            let requestors = (key["requestors"] as? [String] ?? []).joined(separator: ",")
            var facts = [key["enabled"] as? Bool == false ? "disabled" : "enabled", key["strict"] as? Bool == true ? "strict" : "lenient"]
            if let window = key["window"] as? Int { facts.append("window \(window) s") }
            if let until = key["until"] { facts.append("until \(until)") }
            return "\(entry.id)  key  \(key["publicKey"] as? String ?? "")  \(requestors)  \(facts.joined(separator: ", "))"
        }
        let clients = entry.clients.map { "\(entry.id)  client  \($0["clientId"] as? String ?? "")" }
        return keys + clients + entry.statements.map { "\(entry.id)  statement  \($0)" }
    }
}

/// `boxoffice application key disable PUBLIC-KEY`.
struct KeyDisableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Disable a key pair; its requests are refused within a second of the push.")

    @Argument(help: "The public key.")
    var publicKey: String

    @OptionGroup var pushing: PushOptions

    func run() async throws {
        func isMeant(_ key: [String: Any]) -> Bool { (key["publicKey"] as? String).map { OctetText($0) == OctetText(publicKey) } ?? false }
        guard let found = try await ApplicationEntry.all().first(where: { $0.keys.contains(where: isMeant) }) else {
            throw CommandFailure("no application has the key pair '\(publicKey)'", advice: "'boxoffice application key list' shows them")
        }
        var entry = try await ApplicationEntry.read(found.id)
        entry.keys = entry.keys.map { isMeant($0) ? $0.merging(["enabled": false]) { $1 } : $0 }
        try await entry.write()
        pushing.console.line("\(publicKey) of \(entry.id): disabled")
        try await pushing.finish(
            "The key pair \(publicKey) of \(entry.id) counts no more", of: entry.id, facts: ["publicKey": publicKey, "enabled": false])
    }
}
