internal import ArgumentParser

/// Which command somebody meant who typed another word.
enum CommandSuggestion {
    /// - Parameter arguments: Without the program's name.
    /// - Returns: The whole command, such as `secret list`; `nil`: every word is a command, or nothing is near.
    static func command(for arguments: [String], of root: any ParsableCommand.Type = BoxofficeCommand.self) -> String? {
        var (command, words): (any ParsableCommand.Type, [String]) = (root, [])
        for argument in arguments {
            let commands = command.configuration.subcommands
            guard !commands.isEmpty, !argument.hasPrefix("-") else { return nil }
            if let known = commands.first(where: { name($0) == argument }) {
                (command, words) = (known, words + [argument])
                continue
            }
            return nearest(to: argument, among: commands.map(name)).map { (words + [$0]).joined(separator: " ") }
        }
        return nil
    }

    /// The word that somebody may have meant; `nil`: none is near.
    static func nearest(to word: String, among known: [String]) -> String? {
        // Long words may have more mistakes.
        let near = known.map { (name: $0, distance: distance(word, $0)) }.filter { $0.distance <= max(1, $0.name.count / 3) }
        return near.min { $0.distance < $1.distance }?.name
    }

    private static func name(_ command: any ParsableCommand.Type) -> String { command.configuration.commandName ?? "" }

    /// How many letters have to be added, left out, changed, or swapped with their neighbour (Damerau, Levenshtein); a word of a stranger's is cut.
    static func distance(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one.utf8.prefix(64)), Array(other.utf8.prefix(64)))
        var rows = [Array(0...other.count)]
        for (i, letter) in one.enumerated() {
            var row = [i + 1]
            for (j, counterpart) in other.enumerated() {
                var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (letter == counterpart ? 0 : 1))
                if i > 0, j > 0, letter == other[j - 1], one[i - 1] == counterpart { least = min(least, rows[i - 1][j - 1] + 1) }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[one.count][other.count]
    }
}
