/// Ends a command: what went wrong, and what to do about it, in one line.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String

    /// - Parameters:
    ///   - what: What went wrong.
    ///   - advice: What the person can do.
    init(_ what: String, advice: String? = nil) {
        description = advice.map { "\(what): \($0)" } ?? what
    }
}
