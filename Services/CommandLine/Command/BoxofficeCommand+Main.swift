internal import ArgumentParser
internal import Foundation

extension BoxofficeCommand {
    /// Runs the command line and ends the program. `boxoffice load` has exit codes of its own (2 for options that are wrong).
    public static func runAndExit() async -> Never {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
            exit()
        } catch {
            guard exitCode(for: error) == .validationFailure, CommandLine.arguments.dropFirst().first == "load" else { exit(withError: error) }
            FileHandle.standardError.write(Data((fullMessage(for: error) + "\n").utf8))
            exit(withError: LoadExit.usage)
        }
    }
}
