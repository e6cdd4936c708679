import ArgumentParser
import Testing

@testable import BoxofficeCommand

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
    func suggests(arguments: [String], command: String) { #expect(CommandSuggestion.command(for: arguments) == command) }

    @Test(
        "nothing is suggested for what is a command, an option, or far from all",
        arguments: [["up"], ["--help"], ["frobnicate"], ["secret", "--x"], []])
    func suggestsNothing(arguments: [String]) { #expect(CommandSuggestion.command(for: arguments) == nil) }
}
