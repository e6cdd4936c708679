/// Ends a command: what went wrong, and what to do about it, in one line.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String
    let exit: CommandExit

    /// - Parameters:
    ///   - what: What went wrong.
    ///   - advice: What the person can do.
    ///   - exit: How the command ends.
    init(_ what: String, advice: String? = nil, exit: CommandExit = .failed) {
        description = advice.map { "\(what): \($0)" } ?? what
        self.exit = exit
    }
}
