internal import CommandKit
internal import StrictJson

extension LogLine {
    /// As a person reads it: time, program, level, event, then the fields. What is no event is shown as it is.
    /// - Parameter width: Of the longest name of a program.
    func text(_ console: Console, width: Int) -> String {
        let name = Self.padded(program, width)
        guard let event else { return "\(Self.padded("", 23))  \(name)  \(TerminalText.printable(text))" }
        // As it is, but for what a reader does without.
        let time =
            event.timeText.utf8.last == UInt8(ascii: "Z") ? event.timeText.dropLast().split(separator: "T").joined(separator: " ") : event.timeText
        let level = Self.padded(TerminalText.printable(event.level), 8)
        let fields = event.fields.map { "\(console.faint(TerminalText.printable($0.name) + "="))\(Self.value($0.value))" }
        let words = [
            console.faint(Self.padded(TerminalText.printable(time), 23)), name, event.isError ? console.bad(level) : level,
            console.bold(TerminalText.printable(event.name)),
        ]
        return (words + fields.prefix(1)).joined(separator: "  ") + fields.dropFirst().map { " " + $0 }.joined()
    }

    /// Lines for a terminal on which the whole one has no room: the time of day, program, level, event, and the fields where they fit.
    /// - Parameters:
    ///   - width: Of the longest name of a program.
    ///   - columns: Of the terminal; no line is longer.
    func lines(_ console: Console, width: Int, columns: Int) -> [String] {
        let columns = max(40, columns)
        let name = Self.padded(program, width)
        guard let event else {
            return Self.broken("\(program)  \(TerminalText.printable(text))", columns - 14).map { "\(Self.padded("", 12))  \($0)" }
        }
        let time = event.timeText.split(separator: "T").last.map { $0.utf8.last == UInt8(ascii: "Z") ? $0.dropLast() : $0 } ?? ""
        let (moment, level) = (Self.padded(TerminalText.printable(time), 12), Self.padded(TerminalText.printable(event.level), 7))
        var lines = [[console.faint(moment), name, event.isError ? console.bad(level) : level].joined(separator: "  ")]
        var used = moment.count + name.count + level.count + 4
        func add(_ word: String, _ shown: String) {
            if used + 2 + word.count <= columns {
                lines[lines.count - 1] += "  " + shown
                used += 2 + word.count
            } else {
                lines.append(Self.padded("", 14) + shown)
                used = 14 + word.count
            }
        }
        let title = TerminalText.printable(event.name)
        add(title, console.bold(title))
        for field in event.fields {
            let (name, value) = (TerminalText.printable(field.name) + "=", Self.value(field.value))
            if name.count + value.count <= columns - 14 {
                add(name + value, console.faint(name) + value)
            } else {
                for part in Self.broken(name + value, columns - 14) { add(part, part) }
            }
        }
        return lines
    }

    /// The day of an event in a terminal's lines, which have the time of day alone; `nil`: it is no event.
    var day: String? { event.map { TerminalText.printable($0.timeText.prefix { $0 != "T" }) } }

    /// Pieces of that many characters at most.
    private static func broken(_ text: String, _ room: Int) -> [String] {
        var (rest, pieces) = (text[...], [String]())
        while rest.count > room {
            pieces.append(String(rest.prefix(room)))
            rest = rest.dropFirst(room)
        }
        return pieces + [String(rest)]
    }

    /// As a program reads it: the line with the name of the program, or the line that is no JSON in an object.
    var json: String {
        let program = "\"program\":\(JsonNode.quoted(program))"
        guard event != nil else { return "{\(program),\"line\":\(JsonNode.quoted(text))}" }
        // An object without members has no quotation mark.
        return "{\(program)\(octets.contains(UInt8(ascii: "\"")) ? "," : "")\(String(decoding: octets.dropFirst(), as: UTF8.self))"
    }

    /// Time, event and fields of one program's line, without colours.
    var shortText: String {
        guard let event else { return TerminalText.printable(text) }
        return
            ([event.timeText, event.name].map(TerminalText.printable)
            + event.fields.map { "\(TerminalText.printable($0.name))=\(Self.value($0.value))" }).joined(
                separator: " ")
    }

    /// A value that has blanks, quotation marks or nothing at all is quoted.
    private static func value(_ text: String) -> String {
        if !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x22 && $0 < 0x7f }) { return text }
        let isPlain = !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x7f }
        return isPlain ? TerminalText.printable(text) : "\"\(TerminalText.printable(text.replacing("\"", with: "\\\"")))\""
    }

    private static func padded(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: max(0, width - text.count)) }
}
