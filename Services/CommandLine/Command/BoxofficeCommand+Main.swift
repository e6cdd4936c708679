internal import ArgumentParser
internal import Foundation
internal import ServiceKit

extension BoxofficeCommand {
    /// Runs the command line and ends the program.
    public static func runAndExit() async -> Never {
        StandardStream.occupyClosed()
        var isParsed = false
        do {
            var command = try parseAsRoot()
            isParsed = true
            if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
            ProgramEnd.now(CommandExit.done.rawValue)
        } catch {
            let end = isParsed ? CommandEnd(error) : CommandEnd(parsing: error)
            let output: StandardStream = end.exit == CommandExit.done.rawValue ? .output : .error
            if !end.message.isEmpty { output.writeOrEnd(Data((end.message + "\n").utf8)) }
            let arguments = Array(CommandLine.arguments.dropFirst())
            if end.exit == CommandExit.usage.rawValue, let command = CommandSuggestion.command(for: arguments) {
                output.writeOrEnd(Data("Did you mean 'boxoffice \(command)'?\n".utf8))
            }
            ProgramEnd.now(end.exit)
        }
    }
}
