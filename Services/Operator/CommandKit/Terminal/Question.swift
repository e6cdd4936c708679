internal import Foundation

/// What a person at the terminal is asked before something that cannot be undone; without a terminal nobody is asked.
enum Question {
    /// Whether somebody can read the question, and answer it.
    static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// - Returns: True for a yes, and where nobody can be asked.
    static func agrees(_ text: String) -> Bool {
        guard isPossible else { return true }
        FileHandle.standardError.write(Data("\(text) [y/N] ".utf8))
        return isYes(readLine())
    }

    /// - Parameter answer: `nil`: the input has ended.
    static func isYes(_ answer: String?) -> Bool { ["y", "yes"].contains((answer ?? "").trimmingCharacters(in: .whitespaces).lowercased()) }
}
