/// Ends a command: what went wrong, and what to do about it, in one line.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String
    let exit: CommandExit

    /// - Parameters:
    ///   - what: What went wrong. What others say may end as a sentence: its full stop goes where an advice follows.
    ///   - advice: What the person can do.
    ///   - exit: How the command ends.
    init(_ what: String, advice: String? = nil, exit: CommandExit = .failed) {
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
    var withoutEnd: String {
        let marks: Set<Character> = [".", ":", ";", ",", " ", "\n"]
        return String(reversed().drop { marks.contains($0) }.reversed())
    }
}
