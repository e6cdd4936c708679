package import ArgumentParser
internal import Foundation
internal import ServiceKit

/// Commands end in one of these ways: one table for all of them. README.md of the command line has it, too.
package enum CommandExit: Int32, CaseIterable, Sendable {
    case done = 0
    case failed = 1
    case usage = 2
    case configuration = 3
    case unreachable = 4
    case expired = 5
    case unexpected = 6
    case cancelled = 130
    case readerGone = 141

    /// The code that `boxoffice device` calls `failed` in scripts.
    package static let refused = CommandExit.failed

    /// For whoever reads the table.
    var meaning: String {
        switch self {
        case .done: "done; what was asked is so"
        case .failed: "the answer is no, or something is not as it should be: what that is stands on standard error or in the output"
        case .usage: "options, arguments or a file that cannot be used"
        case .configuration: "`device`: the servers do not accept the app or do not know the requestor"
        case .unreachable: "what the command needs cannot be reached: no cluster runs, a service does not answer, or something else answers"
        case .expired: "`device`: the registration code expired"
        case .unexpected: "`device`: an expectation of a script failed"
        case .cancelled: "given up, by Ctrl-C or by the person"
        case .readerGone: "whoever read the output has gone"
        }
    }

    package var exitCode: ExitCode { ExitCode(rawValue) }

    /// Says why a command ends, on standard error, as all commands do.
    package static func explain(_ reason: String) { StandardStream.error.writeOrEnd(Data("\(prefix)\(reason)\n".utf8)) }

    /// Returns how a command ends that could not begin with what it was asked for, because of an error.
    package static func ofStart(_ error: any Error) -> CommandExit {
        switch error {
        case let failure as CommandFailure where failure.exit != .failed: failure.exit
        default: .unreachable
        }
    }

    package static let prefix = "boxoffice: "
}

/// A command that has thrown an error ends in this way.
package struct CommandEnd {
    package let exit: Int32
    /// Nothing: the command has said all.
    package let message: String

    /// - Parameters:
    ///   - error: The error of options and arguments. The library wraps what a command says of them into an error of its own, which shows how it is
    ///     made.
    ///   - arguments: The typed arguments, without the program's name.
    package init(parsing error: any Error, _ arguments: [String] = [], of command: any ParsableCommand.Type) {
        let end = CommandEnd(error, of: command)
        if end.exit != CommandExit.done.rawValue, let unknown = UnknownOption(in: arguments, of: command) {
            (exit, message) = (CommandExit.usage.rawValue, CommandExit.prefix + Self.withoutPasswords(unknown.message))
            return
        }
        guard end.exit == CommandExit.failed.rawValue else {
            self = end
            return
        }
        (exit, message) = (CommandExit.usage.rawValue, CommandExit.prefix + Self.withoutPasswords(command.message(for: error)))
    }

    package init(_ error: any Error, of command: any ParsableCommand.Type) {
        let exit: Int32
        let message: String
        switch error {
        case let code as ExitCode: (exit, message) = (code.rawValue, "")
        case let failure as CommandFailure: (exit, message) = (failure.exit.rawValue, CommandExit.prefix + failure.description)
        default:
            let code = command.exitCode(for: error)
            let text = command.fullMessage(for: error)
            if code == .success {
                (exit, message) = (0, text)
            } else if code == .validationFailure {
                (exit, message) = (CommandExit.usage.rawValue, CommandExit.prefix + Self.withoutUsage(Self.withoutPrefix(text)))
            } else {
                (exit, message) = (CommandExit.failed.rawValue, CommandExit.prefix + PlainReason.of(error))
            }
        }
        (self.exit, self.message) = (exit, Self.withoutPasswords(message))
    }

    /// No password of an address reaches a terminal, whoever names the address; the word for one in an advice does.
    static func withoutPasswords(_ text: String) -> String {
        text.replacing(/(:\/\/[^\s\/@:']*):(?!PASSWORD@)[^\s']*@/) { "\($0.1):[hidden]@" }
    }

    /// The library begins with a word of its own.
    private static func withoutPrefix(_ text: String) -> String { text.hasPrefix("Error: ") ? String(text.dropFirst(7)) : text }

    /// The problem, and the place where the options are listed: the library prints them all between the two.
    private static func withoutUsage(_ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let usage = lines.firstIndex(where: { $0.hasPrefix("Usage: ") }) else { return text }
        let see = lines[usage...].last { $0.hasPrefix("  See '") }.map { [$0.dropFirst(2)] } ?? []
        return (lines[..<usage] + see).joined(separator: "\n")
    }
}

/// Ends a command: what went wrong, and what to do about it, in one line.
package struct CommandFailure: Error, CustomStringConvertible {
    package let description: String
    package let exit: CommandExit

    /// - Parameters:
    ///   - what: The failure. A message of other programs may end as a sentence: its full stop goes where an advice follows.
    ///   - advice: The step that the person can take.
    ///   - exit: How the command ends.
    package init(_ what: String, advice: String? = nil, exit: CommandExit = .failed) {
        description = Self.joined(what, advice)
        self.exit = exit
    }

    private static func joined(_ what: String, _ advice: String?) -> String {
        guard let advice, !advice.isEmpty else { return what }
        let what = what.withoutEnd
        return what.hasSuffix("?") || what.hasSuffix("!") ? "\(what) \(advice)" : "\(what): \(advice)"
    }
}

extension String {
    /// Without the marks that end a sentence or a part of one, so that another part may follow.
    package var withoutEnd: String {
        let marks: Set<Character> = [".", ":", ";", ",", " ", "\n"]
        return String(reversed().drop { marks.contains($0) }.reversed())
    }
}
