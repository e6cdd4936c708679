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
            exit()
        } catch {
            guard exitCode(for: error) == .validationFailure, let name = CommandLine.arguments.dropFirst().first, withOwnUsage.contains(name) else {
                exit(withError: error)
            }
            StandardStream.error.writeOrEnd(Data((fullMessage(for: error) + "\n").utf8))
            exit(withError: LoadExit.usage)
        }
    }
}
