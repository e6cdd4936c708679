internal import Foundation
internal import ServiceKit

/// What stands at the end of a program's log.
struct LogEnd {
    /// Octets; what is before them is history.
    private static let looked = 4 * 1024 * 1024
    /// A program that ends says why in its last lines.
    private static let last = 100

    let path: String

    /// The latest event that is an error.
    var lastError: ProgramStatus.LastError? {
        for octets in lines.reversed() {
            // Most lines are none, and to look for the words is far cheaper than to read JSON.
            guard octets.firstRange(of: Data("error".utf8)) != nil || octets.firstRange(of: Data("critical".utf8)) != nil else { continue }
            let line = LogLine(program: "", octets: Array(octets), after: .init(milliseconds: 0))
            guard let event = line.event, event.isError else { continue }
            let fields = Dictionary(event.fields.map { ($0.name, $0.value) }) { first, _ in first }
            return ProgramStatus.LastError(time: event.timeText, event: event.name, fields: fields, line: line.text, text: line.shortText)
        }
        return nil
    }

    /// Why a program has ended, by its own account: the first of the last lines that are no events. After it may come where in the program it was.
    var lastWords: String? {
        let lines = lines.suffix(Self.last)
        guard let end = lines.lastIndex(where: { !Self.isEvent($0) }) else { return nil }
        var start = end
        while start > lines.startIndex, !Self.isEvent(lines[start - 1]) { start -= 1 }
        return String(decoding: lines[start], as: UTF8.self)
    }

    private static func isEvent(_ line: Data) -> Bool { line.first == UInt8(ascii: "{") }

    /// Where another file was just begun, those of the one before it too.
    private var lines: [Data] {
        let present = Self.lines(of: path)
        guard present.count < Self.last, let former = FormerLog.names(of: path).last else { return present }
        return Self.lines(of: URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent(former).path) + present
    }

    private static func lines(of path: String) -> [Data] {
        guard let file = FileHandle(forReadingAtPath: path) else { return [] }
        defer { try? file.close() }
        guard let size = try? file.seekToEnd(), (try? file.seek(toOffset: size > looked ? size - UInt64(looked) : 0)) != nil,
            let content = try? file.readToEnd()
        else { return [] }
        return content.split(separator: 0x0a)
    }
}
