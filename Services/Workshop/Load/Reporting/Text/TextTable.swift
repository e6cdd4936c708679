/// Columns for a terminal: the first one to the left, the others to the right.
package struct TextTable {
    private var rows: [[String]]

    package init(_ head: [String]) { rows = [head] }

    package mutating func add(_ row: [String]) { rows.append(row) }

    package var lines: [String] {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = row.enumerated().map { column, text in column == 0 ? Self.left(text, max(16, widths[0])) : Self.right(text, widths[column]) }
            return "  " + cells.joined(separator: "  ").trimmingSuffix(" ")
        }
    }

    static func left(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: max(0, width - text.count)) }

    static func right(_ text: String, _ width: Int) -> String { String(repeating: " ", count: max(0, width - text.count)) + text }

    /// Makes one line of a text, and cuts what is too long.
    static func cut(_ text: String, _ width: Int) -> String {
        let line = String(text.map { $0.isNewline ? " " : $0 })
        return line.count <= width ? line : line.prefix(width - 1) + "…"
    }

    /// Breaks a text into lines at its spaces.
    static func wrap(_ text: String, _ width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}

extension String {
    fileprivate func trimmingSuffix(_ character: Character) -> String {
        var text = self[...]
        while text.last == character { text = text.dropLast() }
        return String(text)
    }
}
