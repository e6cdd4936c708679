internal import Clocks
internal import CommandKit
internal import StrictJson

/// A line of a program's log.
struct LogLine: Sendable {
    /// A program's report: one JSON object.
    struct Event: Sendable {
        let time: Timestamp?
        /// As the line has it.
        let timeText: String
        let level: String
        let name: String
        /// Beside time, level, service and event; in the order of the line, values that are no strings as JSON.
        let fields: [(name: String, value: String)]

        func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }

        var isError: Bool { level == "error" || level == "critical" }
    }

    /// The copy that wrote it: `authentication-2`.
    let program: String
    /// As it stands in the file, without its end.
    let octets: [UInt8]
    /// Places it among the lines of other programs: its own time, or that of the line before it.
    let place: Timestamp

    /// Programs begin a line in this way, so that its time is known without reading the rest.
    private static let beginning = Array(#"{"time":""#.utf8)
    private static let timeLength = 24

    /// - Parameter before: The place of the line before it.
    init(program: String, octets: [UInt8], after before: Timestamp) {
        (self.program, self.octets) = (program, octets)
        let time = octets.dropFirst(Self.beginning.count).prefix(Self.timeLength)
        if octets.starts(with: Self.beginning), let time = Timestamp(logged: time) {
            place = time
        } else {
            place = Event(octets)?.time ?? before
        }
    }

    init(program: String, text: String, after before: Timestamp) { self.init(program: program, octets: Array(text.utf8), after: before) }

    var text: String { String(decoding: octets, as: UTF8.self) }

    /// Read anew at each call. Nil: it is no JSON object, such as what a program says that cannot start.
    var event: Event? { Event(octets) }
}

extension LogLine.Event {
    init?(_ text: String) { self.init(Array(text.utf8)) }

    init?(_ octets: [UInt8]) {
        guard octets.first == UInt8(ascii: "{"), let document = try? JsonDocument(parsing: octets),
            case .object(let members) = document.root.content
        else { return nil }
        var (time, level, name) = ("", "", "")
        var fields: [(name: String, value: String)] = []
        for member in members {
            let value = if case .string(let string) = member.value.content { string } else { member.value.text }
            switch member.name {
            case "time": time = value
            case "level": level = value
            case "event": name = value
            case "service": continue
            default: fields.append((member.name, value))
            }
        }
        (timeText, self.time, self.level, self.name, self.fields) = (time, Timestamp(logged: time.utf8), level, name, fields)
    }
}

extension Timestamp {
    /// - Parameter text: As programs write it: `2031-03-04T10:00:00.000Z`; the fraction may be shorter, longer or missing.
    init?(logged text: some Collection<UInt8>) {
        let octets = Array(text.prefix(40))
        guard octets.count >= 20, octets.last == UInt8(ascii: "Z") else { return nil }
        func number(_ range: Range<Int>) -> Int? {
            octets[range].reduce(0 as Int?) { sum, digit in
                (0x30...0x39).contains(digit) ? sum.map { $0 * 10 + Int(digit) - 0x30 } : nil
            }
        }
        guard zip([4, 7, 10, 13, 16], "--T::".utf8).allSatisfy({ octets[$0] == $1 }), let year = number(0..<4), let month = number(5..<7),
            let day = number(8..<10), let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            let date = CivilDate(year: year, month: month, day: day), hour < 24, minute < 60, second <= 60
        else { return nil }
        var milliseconds = 0
        if octets.count > 20 {
            guard octets[19] == UInt8(ascii: "."), octets.count > 21, number(20..<octets.count - 1) != nil else { return nil }
            milliseconds = (20..<23).reduce(0) { $0 * 10 + ($1 < octets.count - 1 ? Int(octets[$1]) - 0x30 : 0) }
        }
        let seconds = ((date.daysSince1970 * 24 + hour) * 60 + minute) * 60 + second
        self.init(milliseconds: Int64(seconds) * 1000 + Int64(milliseconds))
    }
}

extension LogLine {
    /// As a person reads it: time, program, level, event, then the fields. A line that is no event is shown as it is.
    /// - Parameter width: The width of the longest name of a program.
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
    ///   - width: The width of the longest name of a program.
    ///   - columns: The columns of the terminal; no line is longer.
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
        let program = "\"program\":\(JsonWriter.quoted(program))"
        guard event != nil else { return "{\(program),\"line\":\(JsonWriter.quoted(text))}" }
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
