package import ArgumentParser
internal import Foundation
internal import Synchronization

/// Finds the command that somebody meant who typed another word.
package enum CommandSuggestion {
    /// - Parameter arguments: Without the program's name.
    /// - Returns: The whole command, such as `secret list`; `nil`: every word is a command, or nothing is near.
    package static func command(for arguments: [String], of root: any ParsableCommand.Type) -> String? {
        var (command, words): (any ParsableCommand.Type, [String]) = (root, [])
        for argument in arguments {
            let commands = command.configuration.subcommands
            guard !commands.isEmpty, !argument.hasPrefix("-") else { return nil }
            if let known = child(argument, of: command) {
                (command, words) = (known, words + [argument])
                continue
            }
            return nearest(to: argument, among: commands.map(name)).map { (words + [$0]).joined(separator: " ") }
        }
        return nil
    }

    /// The commands that take something away for good are nobody's typing error: a person who wants one can write it out.
    static let destroying: Set<String> = [
        "erase", "restore", "reset", "drop", "dismiss", "revoke", "disable", "--reset", "--yes", "--force", "--prune", "--retire",
        "--sign-out-everywhere",
    ]

    /// The word that somebody may have meant, unless it destroys something; `nil`: none is near.
    package static func nearest(to word: String, among known: [String]) -> String? {
        // Long words may have more mistakes.
        let near = known.filter { !destroying.contains($0) }.map { (name: $0, distance: distance(word, $0)) }.filter {
            $0.distance <= max(1, $0.name.count / 3)
        }
        return near.min { $0.distance < $1.distance }?.name
    }

    private static func name(_ command: any ParsableCommand.Type) -> String { command.configuration.commandName ?? "" }

    /// The subcommand of that name, or of which it is another name.
    static func child(_ word: String, of command: any ParsableCommand.Type) -> (any ParsableCommand.Type)? {
        command.configuration.subcommands.first { name($0) == word || $0.configuration.aliases.contains(word) }
    }

    /// The first word after `help` that is no command: the library shows another one's help in its place.
    package static func unknownTopic(_ arguments: [String], of root: any ParsableCommand.Type) -> String? {
        guard arguments.first == "help" else { return nil }
        var command = root
        for word in arguments.dropFirst() where !word.hasPrefix("-") {
            guard let known = child(word, of: command) else { return word }
            command = known
        }
        return nil
    }

    /// The number of letters to add, leave out, change, or swap with their neighbour (Damerau, Levenshtein); a word of a stranger's is cut.
    static func distance(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one.utf8.prefix(64)), Array(other.utf8.prefix(64)))
        var rows = [Array(0...other.count)]
        for (i, letter) in one.enumerated() {
            var row = [i + 1]
            for (j, counterpart) in other.enumerated() {
                var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (letter == counterpart ? 0 : 1))
                if i > 0, j > 0, letter == other[j - 1], one[i - 1] == counterpart { least = min(least, rows[i - 1][j - 1] + 1) }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[one.count][other.count]
    }
}

/// The first option on a command line that its command does not have. The library takes the value of such an option for an argument, and complains of
/// that.
struct UnknownOption {
    let name: String
    /// The command that may have been meant, as it is typed; `nil`: nothing is near, or it destroys something.
    let suggestion: String?
    /// The command without the program's name, such as `secret list`.
    let command: String

    /// - Parameter arguments: Without the program's name.
    /// - Returns: `nil` where all options are known.
    init?(in arguments: [String], of root: any ParsableCommand.Type) {
        var (command, words, rest) = (root, [String](), arguments[...])
        while let word = rest.first, let child = CommandSuggestion.child(word, of: command) {
            (command, words) = (child, words + [word])
            rest.removeFirst()
        }
        let known = OptionNames(of: command)
        guard let name = known.firstUnknown(in: rest) else { return nil }
        // The script that builds has switches which its program does not know.
        let ofScript = words == ["up"] ? ["--release", "--programs"] : []
        // There `--all` means all of a viewer's sessions.
        let offered = known.all.filter { $0 != "--all" || words != ["support", "end"] }
        let near = CommandSuggestion.nearest(to: name, among: offered.sorted() + ofScript)
        suggestion = near.map { ofScript.contains($0) ? "./Services/up \($0)" : $0 }
        (self.name, self.command) = (name, words.joined(separator: " "))
    }

    var message: String {
        let program = command.isEmpty ? "boxoffice" : "boxoffice \(command)"
        return
            "'\(name)' is no option of '\(program)'\(suggestion.map { ". Did you mean '\($0)'?" } ?? "")\nSee '\(program) --help' for more information."
    }
}

/// The options of a command, as its help lists them; also of the one that is meant where none below it is named.
struct OptionNames {
    /// Those of every command, which help leaves out, are among them.
    private(set) var all: Set<String> = ["--generate-completion-script", "--experimental-dump-help"]
    /// Those that take a value.
    private(set) var valued: Set<String> = []

    init(of command: any ParsableCommand.Type) {
        let commands = [command] + [command.configuration.defaultSubcommand].compactMap { $0 }
        let help = commands.map { $0.helpMessage(includeHidden: true, columns: 120) }.joined(separator: "\n")
        for line in help.split(separator: "\n") where line.hasPrefix("  -") {
            // The explanation of an option stands behind two blanks.
            let label = line.dropFirst(2)
            let end = label.firstRange(of: "  ")?.lowerBound ?? label.endIndex
            let names = label[..<end].replacing(/<[^>]*>/, with: "").matches(of: /--?[A-Za-z0-9][A-Za-z0-9-]*/).map { String($0.output) }
            all.formUnion(names)
            if label[..<end].contains("<") { valued.formUnion(names) }
        }
    }

    func firstUnknown(in arguments: ArraySlice<String>) -> String? {
        var rest = arguments
        while let word = rest.popFirst(), word != "--" {
            guard word.hasPrefix("-"), let letter = word.drop(while: { $0 == "-" }).first, letter.isLetter else { continue }
            let name = String(word.prefix { $0 != "=" })
            if valued.contains(name), !word.contains("=") {
                _ = rest.popFirst()
            } else if !all.contains(name), !isShort(name) {
                return name
            }
        }
        return nil
    }

    /// Several options of one letter in one word, or one with its value.
    private func isShort(_ word: String) -> Bool { !word.hasPrefix("--") && all.contains(String(word.prefix(2))) }
}

/// The words that a shell offers for the value of an option or an argument.
extension CompletionKind {
    /// The services of a cluster.
    package static var services: CompletionKind { .list(ClusterService.allCases.filter { $0 != .sandbox }.map(\.rawValue)) }

    /// The services that speak the wire.
    package static var rpcServices: CompletionKind { .list(ClusterService.allCases.filter { $0 != .sandbox && $0 != .gateway }.map(\.rawValue)) }

    /// Those who live in the sandbox.
    package static var people: CompletionKind { .list(SandboxPeople.names) }

    /// The names in the running cluster's catalogue; nothing where none runs.
    package static func catalogue(_ kind: CatalogueNames.Kind) -> CompletionKind {
        let known: @Sendable ([String], Int, String) -> [String] = { _, _, _ in CatalogueNames.known(kind) }
        return .custom(known)
    }
}

/// Ids of the running cluster's catalogue, for completion alone.
package enum CatalogueNames {
    /// Collections of the administration API.
    package enum Kind: String, CaseIterable, Sendable { case mvpds, requestors }

    private static let read = Mutex<[Kind: [String]]>([:])
    /// The administration API gives no more at once; somebody who has more types on.
    private static let most = 200

    static func known(_ kind: Kind) -> [String] { read.withLock { $0[kind] ?? [] } }

    /// Reads them where a shell asks for values: what offers values may not wait for an answer. Nothing is offered where the cluster does not answer
    /// at once.
    /// - Parameters:
    ///   - arguments: Without the program's name.
    ///   - home: The cluster's folder; `nil`: that of the environment.
    package static func prepare(for arguments: [String], _ home: ClusterHome? = nil) async {
        guard arguments.first == "---completion" else { return }
        let home = home ?? ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        guard let cluster = try? ClusterFile.read(home) else { return }
        try? await HTTPExchange.once(trusting: cluster.authority) { exchange in
            var exchange = exchange
            exchange.timeout = .seconds(2)
            for kind in Kind.allCases {
                let address = "\(cluster.administration)/admin/v1/\(kind.rawValue)?size=\(most)"
                let answer = try await exchange.send("GET", address, headers: [("Authorization", "Bearer \(cluster.adminToken)")])
                let items = answer.object["items"] as? [[String: Any]] ?? []
                let ids = items.compactMap { $0["id"] as? String }.filter(isPlain)
                read.withLock { $0[kind] = ids }
            }
        }
    }

    /// A shell takes such a word as it is.
    static func isPlain(_ id: String) -> Bool {
        !id.isEmpty && id.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
    }
}

/// The people who live in the sandbox, as its settings have them unless they are changed.
package enum SandboxPeople {
    package static let names = ["ada", "ben", "cleo", "dan", "eve"]
    /// Refused also with the right password.
    package static let refused = "eve"

    /// - Parameter name: The person whose login an MVPD refused.
    package static func advice(afterRefusing name: String) -> String {
        if name == refused { return "the sandbox always refuses \(name); sign in with --as ada" }
        guard !names.contains(name) else { return "the sandbox knows \(name): does that MVPD play a person of its own?" }
        return "the sandbox's people are \(names.filter { $0 != refused }.joined(separator: ", ")), and \(refused), who is always refused"
    }
}
