internal import Foundation

/// Text as a terminal may show it.
package enum TerminalText {
    /// Columns of a text where nobody says another number.
    package static let width = 80

    /// Lines of at most 80 columns, or of another width; a word that is longer is cut into pieces.
    package static func wrapped(_ text: String, _ indent: Int, width: Int = Self.width) -> [String] {
        let room = max(8, width - indent)
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ").flatMap({ pieces(of: $0, room) }) {
            if !line.isEmpty, line.count + 1 + word.count > room {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? word : " " + word
        }
        return (lines + [line]).map { String(repeating: " ", count: indent) + $0 }
    }

    private static func pieces(of word: Substring, _ room: Int) -> [String] {
        var rest = word
        var pieces: [String] = []
        while rest.count > room {
            pieces.append(String(rest.prefix(room)))
            rest = rest.dropFirst(room)
        }
        return pieces + [String(rest)]
    }

    /// Shows control characters in place of sending them to the terminal: strangers can write some of what stands in logs.
    package static func printable(_ text: some StringProtocol) -> String {
        // Nearly all of it is ASCII.
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) { return String(text) }
        guard text.unicodeScalars.contains(where: isControl) else { return String(text) }
        return text.unicodeScalars.map { isControl($0) ? "\\u{\(String($0.value, radix: 16))}" : String($0) }.joined()
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar != "\t" && [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
    }
}

/// The question to a person at the terminal before something that cannot be undone; without a terminal nobody is asked.
package enum Question {
    /// True when somebody can read the question, and answer it.
    package static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// - Returns: True for a yes, and where nobody can be asked.
    package static func agrees(_ text: String) -> Bool {
        guard isPossible else { return true }
        FileHandle.standardError.write(Data("\(text) [y/N] ".utf8))
        return isYes(readLine())
    }

    /// - Parameter answer: `nil`: the input has ended.
    package static func isYes(_ answer: String?) -> Bool { ["y", "yes"].contains((answer ?? "").trimmingCharacters(in: .whitespaces).lowercased()) }
}

/// How large the terminal is that standard output goes to.
package enum TerminalSize {
    /// Columns that lines have to fit; `nil`: standard output is no terminal, and what reads it wants whole lines.
    package static var columns: Int? { isatty(STDOUT_FILENO) == 1 ? current.width : nil }

    /// Columns and rows; 80 and 24 where they are not known.
    package static var current: (width: Int, height: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }
}
