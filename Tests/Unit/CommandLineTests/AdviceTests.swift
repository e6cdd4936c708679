import ArgumentParser
import Foundation
import Testing

@testable import BoxofficeMain
@testable import CommandKit

/// Commands that programs, pages and scripts tell people to run exist.
@Suite("Advice names commands that exist")
struct AdviceTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..").standardizedFileURL

    /// A line of a source that people may get to read.
    struct Line: Sendable {
        let place: String
        let text: String
    }

    /// The context strings of key derivation begin with the product's name, too.
    private static let derivation = "Shared/Platform/Storage/KeyFingerprint.swift"

    private static let kinds: Set<String> = ["swift", "mustache", "html", "json", "yaml", "yml", "js", "proto", ""]

    /// The lines of all sources and scripts, without comments, that hold the text.
    private static func lines(below folder: String, with text: String) throws -> [Line] {
        let files = try #require(FileManager.default.enumerator(at: root.appendingPathComponent(folder), includingPropertiesForKeys: [.fileSizeKey]))
        var lines: [Line] = []
        for case let file as URL in files where kinds.contains(file.pathExtension) && !file.path.contains("/Generated/") {
            let size = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
            guard size < 1_000_000, let octets = try? Data(contentsOf: file), octets.range(of: Data(text.utf8)) != nil,
                let content = String(data: octets, encoding: .utf8)
            else { continue }
            let name = file.path.dropFirst(root.path.count + 1)
            for (number, line) in content.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                let shown = line.drop { $0 == " " }
                if !shown.hasPrefix("//"), shown.contains(text) { lines.append(Line(place: "\(name):\(number + 1)", text: String(shown))) }
            }
        }
        return lines
    }

    private static func lines(with text: String) throws -> [Line] { try lines(below: "Services", with: text) + lines(below: "Shared", with: text) }

    /// A command that a line tells to run.
    struct Mention {
        /// `explain 4bf9 --all`.
        let words: [Substring]
        /// It stands between quotation marks: no prose follows.
        let isQuoted: Bool
    }

    static func mentions(in line: String) -> [Mention] {
        line.matches(of: /(?<before>^|[^\w\/.-])(?:\.\/Services\/)?boxoffice (?<rest>[a-z][^'"`,;:)(]*)(?<after>.?)/).compactMap {
            match -> Mention? in
            // The context strings of key derivation begin with the product's name, too, and are whole literals.
            let isLiteral = match.before == "\"" && match.after == "\"" && match.rest.allSatisfy { $0.isLowercase || $0 == " " }
            guard !isLiteral else { return nil }
            // A sentence may end with a command.
            let words = match.rest.split(separator: " ").map { $0.last == "." ? $0.dropLast() : $0 }
            return Mention(words: words, isQuoted: match.before == "'" && match.after == "'")
        }
    }

    /// The problem of a command; `nil`: none.
    static func problem(_ mention: Mention) -> String? {
        var (command, rest): (any ParsableCommand.Type, ArraySlice<Substring>) = (BoxofficeCommand.self, mention.words[...])
        while let word = rest.first, let child = CommandSuggestion.child(String(word), of: command) {
            command = child
            rest.removeFirst()
        }
        if command == BoxofficeCommand.self { return "there is no command '\(mention.words.first ?? "")'" }
        let isWord = rest.first.map { $0.allSatisfy { $0.isLowercase || $0 == "-" } && !$0.hasPrefix("-") } ?? false
        if mention.isQuoted, isWord, !command.configuration.subcommands.isEmpty, command.configuration.defaultSubcommand == nil {
            return "'\(command.configuration.commandName ?? "")' has no command '\(rest.first ?? "")'"
        }
        let known = OptionNames(of: command)
        let options = rest.compactMap { $0.prefixMatch(of: /-{1,2}[A-Za-z][A-Za-z0-9-]*/).map { String($0.output) } }
        return options.first { !known.all.contains($0) }.map { "'\(command.configuration.commandName ?? "")' has no option '\($0)'" }
    }

    @Test("every command that a program, a page or a script names is one, and has the options that are named with it")
    func commands() throws {
        var count = 0
        for line in try Self.lines(with: "boxoffice ") where !line.place.hasPrefix(Self.derivation) {
            for mention in Self.mentions(in: line.text) {
                count += 1
                if let problem = Self.problem(mention) { Issue.record("\(line.place): \(problem): \(line.text.prefix(160))") }
            }
        }
        #expect(count > 40, "few texts name a command: are they found?")
    }

    /// Options of other programs that the command line starts or names.
    private static let foreign: Set<String> = [
        "--auth-local", "--cacert", "--check", "--check-config", "--config", "--describe-store", "--file", "--format", "--init-groups", "--no-locale",
        "--no-owner", "--no-privileges", "--no-sync", "--origin", "--quiet", "--regid", "--release", "--reuid", "--snapshot", "--wal-segsize",
    ]

    private static func all(_ command: any ParsableCommand.Type = BoxofficeCommand.self) -> [any ParsableCommand.Type] {
        [command] + command.configuration.subcommands.flatMap { all($0) }
    }

    @Test("every option that the command line names is one of its own, or of a program that it starts")
    func options() throws {
        let known = Self.all().reduce(into: Self.foreign) { $0.formUnion(OptionNames(of: $1).all) }
        var count = 0
        let lines = try ["Services/Operator", "Services/Workshop"].flatMap { try Self.lines(below: $0, with: "--") }
        for line in lines where line.place.contains(".swift:") {
            for match in line.text.matches(of: /(?<before>^|[^\w-])(?<option>--[a-z][a-z0-9-]*)/) {
                count += 1
                let isKnown = known.contains(String(match.option)) || CommandSuggestion.destroying.contains(String(match.option))
                if !isKnown { Issue.record("\(line.place): no command has \(match.option): \(line.text.prefix(160))") }
            }
        }
        #expect(count > 200, "few texts name an option: are they found?")
    }

    @Test("every switch that a text names with ./Services/up or down is one of that script")
    func scripts() throws {
        for name in ["up", "down"] {
            let script = try String(contentsOf: Self.root.appendingPathComponent("Services/\(name)"), encoding: .utf8)
            for line in try Self.lines(with: "Services/\(name) -") {
                for part in line.text.components(separatedBy: "Services/\(name) ").dropFirst() {
                    for option in part.prefix(while: { !"'\"`,;:.)".contains($0) }).split(separator: " ") where option.hasPrefix("--") {
                        #expect(script.contains(option), "\(line.place): \(option) is no switch of Services/\(name)")
                    }
                }
            }
        }
    }

    @Test(
        "what does not exist is found",
        arguments: [
            ("'boxoffice revoke-client' ends one", "revoke-client"), ("run './Services/boxoffice catalogue promot'", nil),
            ("'boxoffice person forget'", "forget"), ("'boxoffice explain --trace X'", "--trace"), ("boxoffice nothing at all", "nothing"),
        ] as [(String, String?)])
    func finds(text: String, part: String?) throws {
        let problem = try #require(Self.mentions(in: text).first.map(Self.problem))
        if let part { #expect(problem?.contains(part) == true, "\(problem ?? "")") }
    }

    @Test(
        "what exists passes, and what is no command is none",
        arguments: [
            "'boxoffice explain \\(trace) --all' tells why", "'./Services/boxoffice logs gateway --since 1m'",
            "boxoffice secret set newfiber <secret",
            "salt = \"boxoffice oauth tokens\"", "boxoffice_gateway_calls_total", "'boxoffice explain-saml X'", "made by boxoffice load.",
        ])
    func passes(text: String) { #expect(Self.mentions(in: text).compactMap(Self.problem).isEmpty) }
}
