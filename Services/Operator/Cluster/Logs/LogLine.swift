internal import Clocks
internal import StrictJson

/// A line of a program's log.
struct LogLine: Sendable {
    /// What a program reports: one JSON object.
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

    /// How programs begin a line, so that its time is known without reading the rest.
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
