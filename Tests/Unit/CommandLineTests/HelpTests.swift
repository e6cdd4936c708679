import ArgumentParser
import Foundation
import Testing

@testable import BoxofficeMain
@testable import ClusterCommands
@testable import CommandKit

@Suite("Help on the command line")
struct HelpTests {
    private static func all(_ command: any ParsableCommand.Type = BoxofficeCommand.self) -> [any ParsableCommand.Type] {
        [command] + command.configuration.subcommands.flatMap { all($0) }
    }

    @Test("no command's help shows a value as Swift prints it")
    func defaults() {
        let commands = Self.all()
        #expect(commands.count > 30)
        for command in commands {
            let help = BoxofficeCommand.helpMessage(for: command)
            let odd = help.matches(of: #/\(default: [A-Z]\w*\(/#).map { String($0.output) }
            #expect(odd.isEmpty, "\(command): \(odd)")
        }
    }

    @Test("spans and shares print as they are typed", arguments: ["0s", "10s", "250ms", "1500us"])
    func spans(text: String) { #expect(TimeSpan(argument: text)?.defaultValueDescription == text) }

    @Test("the same for shares", arguments: ["0%", "25%", "2.5%"])
    func shares(text: String) { #expect(Share(argument: text)?.defaultValueDescription == text) }

    @Test(
        "a mistyped command has the nearest one suggested",
        arguments: [
            (["verfy"], "verify"), (["secret", "lst"], "secret list"), (["spuport"], "support"), (["catalogue", "improt", "x"], "catalogue import"),
            (["conformnace", "config"], "conformance"),
        ])
    func suggests(arguments: [String], command: String) { #expect(CommandSuggestion.command(for: arguments, of: BoxofficeCommand.self) == command) }

    @Test(
        "nothing is suggested for what is a command, an option, or far from all",
        arguments: [["up"], ["--help"], ["frobnicate"], ["secret", "--x"], ["explain-saml"], []])
    func suggestsNothing(arguments: [String]) { #expect(CommandSuggestion.command(for: arguments, of: BoxofficeCommand.self) == nil) }

    @Test(
        "what destroys is never suggested",
        arguments: [
            ["person", "eras"], ["upstream", "rest"], ["store", "restor"], ["catalogue", "import", "--forc"], ["up", "--rest"], ["up", "--reste"],
            ["support", "end", "--al"],
        ])
    func destroysNothing(arguments: [String]) {
        #expect(CommandSuggestion.command(for: arguments, of: BoxofficeCommand.self) == nil)
        #expect(UnknownOption(in: arguments, of: BoxofficeCommand.self)?.suggestion == nil)
    }

    @Test(
        "an option that a command does not have is named, and the one that was meant",
        arguments: [
            (["logs", "--sicne", "1m"], "--sicne", "--since"), (["up", "--releas"], "--releas", "./Services/up --release"),
            (["up", "--detahc", "--reset"], "--detahc", "--detach"), (["device", "--as", "ada", "--mvdp=LakeTel"], "--mvdp", "--mvpd"),
            (["secret", "list", "--jsno"], "--jsno", "--json"), (["explain", "--al"], "--al", "--all"),
            (["load", "config", "--rate", "5", "--unheard-of"], "--unheard-of", nil),
        ] as [([String], String, String?)])
    func unknownOption(arguments: [String], name: String, suggestion: String?) throws {
        let unknown = try #require(UnknownOption(in: arguments, of: BoxofficeCommand.self))
        #expect(unknown.name == name && unknown.suggestion == suggestion)
        #expect(unknown.message.hasPrefix("'\(name)' is no option of 'boxoffice \(unknown.command)'"))
        #expect(unknown.message.hasSuffix("See 'boxoffice \(unknown.command) --help' for more information."))
    }

    @Test(
        "options that there are, their values, and what stands behind '--' are not taken for others",
        arguments: [
            ["logs", "-f", "--since", "1m", "gateway"], ["load", "config", "--rate", "-5"], ["verify", "--requestor=ACME1", "--", "--x"], ["--help"],
            ["device", "--no-opt-in", "--person", "--odd"], ["explain", "-"], ["load", "config", "-q"],
        ])
    func knownOptions(arguments: [String]) {
        #expect(
            UnknownOption(in: arguments, of: BoxofficeCommand.self) == nil, "\(UnknownOption(in: arguments, of: BoxofficeCommand.self)?.name ?? "")")
    }

    @Test("help of what is no command is refused, and that of every command is not")
    func topics() {
        #expect(
            CommandSuggestion.unknownTopic(["help", "nope"], of: BoxofficeCommand.self) == "nope"
                && CommandSuggestion.unknownTopic(["help", "secret", "lst"], of: BoxofficeCommand.self) == "lst")
        for words in [["help"], ["help", "secret", "list"], ["help", "explain-saml"], ["nope"], []] {
            #expect(CommandSuggestion.unknownTopic(words, of: BoxofficeCommand.self) == nil)
        }
    }

    @Test("completion offers services and people, and asks for what the cluster has")
    func completion() async throws {
        let script = BoxofficeCommand.completionScript(for: .bash)
        for word in ["autosignin", "cleo", "kodi", "---completion explain"] { #expect(script.contains(word), "\(word)") }
        let home = ClusterHome(root: FileManager.default.temporaryDirectory.appendingPathComponent("complete-\(UUID().uuidString)"))
        defer { try? FileManager.default.removeItem(at: home.root) }
        try home.prepare()
        let pki = LocalPki(folder: home.pki)
        try pki.ensureQuickly()
        let list: @Sendable (StubRequest) -> StubAnswer = { request in
            .json([
                "items": request.path == "/admin/v1/mvpds" ? [["id": "LakeTel"], ["id": "two words"], ["id": "North.Cable-1"]] : [["id": "ACME1"]]
            ])
        }
        try await StubServer.with(list) { server in
            var file = try ClusterAddresses(ports: PortPlan(base: 30000)).emptyFile(home: home, pki: pki)
            file.admin = server.url
            try file.write(home)
            await CatalogueNames.prepare(for: ["device", "--mvpd"], home)
            #expect(CatalogueNames.known(.mvpds).isEmpty, "only a shell that asks for values costs a question")
            await CatalogueNames.prepare(for: ["---completion", "device"], home)
        }
        #expect(CatalogueNames.known(.mvpds) == ["LakeTel", "North.Cable-1"] && CatalogueNames.known(.requestors) == ["ACME1"])
        #expect(["", "a b", "$(x)", "é", "a;b"].allSatisfy { !CatalogueNames.isPlain($0) })
    }
}
