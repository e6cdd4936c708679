internal import ArgumentParser
internal import CommandKit
internal import Foundation
internal import ServiceKit

extension BoxofficeCommand {
    /// Runs the command line and ends the program.
    static func runAndExit() async -> Never {
        StandardStream.occupyClosed()
        let arguments = Array(CommandLine.arguments.dropFirst())
        await CatalogueNames.prepare(for: arguments)
        var isParsed = false
        do {
            var command = try parseAsRoot()
            isParsed = true
            if let word = CommandSuggestion.unknownTopic(arguments, of: self) {
                throw CommandFailure("there is no command '\(word)'", advice: "'boxoffice --help' lists them", exit: .usage)
            }
            if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
            ProgramEnd.now(CommandExit.done.rawValue)
        } catch {
            let end = isParsed ? CommandEnd(error, of: self) : CommandEnd(parsing: error, arguments, of: self)
            let output: StandardStream = end.exit == CommandExit.done.rawValue ? .output : .error
            if !end.message.isEmpty { output.writeOrEnd(Data((end.message + "\n").utf8)) }
            let words = arguments.first == "help" ? Array(arguments.dropFirst()) : arguments
            if end.exit == CommandExit.usage.rawValue, let command = CommandSuggestion.command(for: words, of: self) {
                output.writeOrEnd(Data("Did you mean 'boxoffice \(command)'?\n".utf8))
            }
            ProgramEnd.now(end.exit)
        }
    }
}
