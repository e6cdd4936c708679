internal import ArgumentParser
internal import Foundation
internal import ServiceKit

extension BoxofficeCommand {
    /// Those with exit codes of their own: 2 for options that are wrong.
    private static let withOwnUsage: Set = ["load", "device"]

    /// Runs the command line and ends the program.
    public static func runAndExit() async -> Never {
        StandardStream.occupyClosed()
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
            ProgramEnd.now(0)
        } catch {
            let message = fullMessage(for: error)
            let code = exitCode(for: error)
            let output: StandardStream = code.isSuccess ? .output : .error
            if !message.isEmpty { output.writeOrEnd(Data((message + "\n").utf8)) }
            if code == .validationFailure, let command = CommandSuggestion.command(for: Array(CommandLine.arguments.dropFirst())) {
                output.writeOrEnd(Data("Did you mean 'boxoffice \(command)'?\n".utf8))
            }
            guard code == .validationFailure, let name = CommandLine.arguments.dropFirst().first, withOwnUsage.contains(name) else {
                ProgramEnd.now(code.rawValue)
            }
            ProgramEnd.now(LoadExit.usage.rawValue)
        }
    }
}
