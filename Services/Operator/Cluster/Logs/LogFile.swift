internal import Clocks
internal import Foundation
internal import ServiceKit

/// Reads a program's log line by line, its former files first, and goes on with later lines. It also goes on after the program began another file,
/// the file was truncated, or another one took its place.
final class LogFile {
    let program: String
    private let path: String
    private var descriptor: Int32 = -1
    /// The name of the former file that is open; `nil`: it is the one that is written now.
    private var former: String?
    /// The latest former file when the present one was opened.
    private var latest = ""
    /// Octets that were read, of the file that is open.
    private var offset: Int64 = 0
    /// Read, but not given out yet: whole lines, and the beginning of one.
    private var waiting: [UInt8] = []
    private var taken = 0
    /// The last octets before `offset`: a file that has others there was truncated and has grown again.
    private var last: [UInt8] = []
    private var place = Timestamp(milliseconds: 0)

    private static let portion = 64 * 1024
    /// A longer line is broken: what has no end must not be gathered for ever.
    private static let longest = 1024 * 1024
    private static let remembered = 64

    /// - Parameters:
    ///   - program: The copy's name.
    ///   - path: The path of the file that is written now; need not exist yet.
    init(program: String, path: String) {
        self.program = program
        self.path = path
        open(after: "")
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The next line whose end is written; `nil`: there is none now.
    func next() -> LogLine? {
        while true {
            if let end = waiting[taken...].firstIndex(of: 0x0a) {
                defer { taken = end + 1 }
                return line(waiting[taken..<end])
            }
            guard waiting.count - taken < Self.longest else {
                defer { taken = waiting.count }
                return line(waiting[taken...])
            }
            if read() { continue }
            // A former file has no more.
            guard let former else { return nil }
            let rest = rest()
            open(after: former)
            if let rest { return rest }
        }
    }

    /// The text at the end of the file without an end of line.
    func rest() -> LogLine? {
        guard taken < waiting.count else { return nil }
        defer { taken = waiting.count }
        return line(waiting[taken...])
    }

    /// Looks whether the file is still the one that is being read. Otherwise it goes on with the next one, or begins anew. To be called when `next`
    /// has no more.
    /// - Returns: The text at the end of the former one without an end of line.
    func follow() -> LogLine? {
        var facts = stat()
        guard former == nil, stat(path, &facts) == 0 else { return nil }
        var own = stat()
        guard descriptor >= 0, fstat(descriptor, &own) == 0 else {
            open(after: latest)
            return nil
        }
        guard Self.isSame(own, facts) else {
            // The lines that were written before it was moved away come first.
            if read() { return nil }
            let rest = rest()
            let names = FormerLog.names(of: path).filter { $0 > latest }
            let name = names.first { name in
                var facts = stat()
                return stat(place(of: name), &facts) == 0 && Self.isSame(own, facts)
            }
            open(after: name ?? latest)
            return rest
        }
        guard own.st_size < offset || !isContinued else { return nil }
        let rest = rest()
        take(Foundation.open(path, O_RDONLY | O_CLOEXEC))
        return rest
    }

    private static func isSame(_ one: stat, _ other: stat) -> Bool { one.st_ino == other.st_ino && one.st_dev == other.st_dev }

    /// Skips lines from before that moment, as far as that is possible without reading them all. Some may be left: their times are to be looked at.
    func skip(before moment: Timestamp) {
        // Threads write their lines nearly in the order of their times.
        let moment = moment - .seconds(10)
        var facts = stat()
        while let former, fstat(descriptor, &facts) == 0, Timestamp(seconds: Int64(facts.st_mtim.tv_sec) + 1) < moment { open(after: former) }
        guard descriptor >= 0 else { return }
        var (low, high): (Int64, Int64) = (0, Int64(lseek(descriptor, 0, SEEK_END)))
        while high - low > Int64(Self.portion) {
            let middle = low + (high - low) / 2
            guard let found = firstTime(from: middle, below: high), found.time < moment else {
                high = middle
                continue
            }
            low = found.offset
        }
        (offset, waiting, taken) = (low, [], 0)
    }

    private func line(_ octets: ArraySlice<UInt8>) -> LogLine {
        let octets = octets.last == 0x0d ? octets.dropLast() : octets
        let line = LogLine(program: program, octets: Array(octets), after: place)
        place = line.place
        return line
    }

    /// Opens the file that was begun next.
    /// - Parameter name: The name of a former file.
    private func open(after name: String) {
        var name = name
        while true {
            // Before the look at the others: what becomes a former file meanwhile is seen there.
            let present = Foundation.open(path, O_RDONLY | O_CLOEXEC)
            let names = FormerLog.names(of: path)
            guard let next = names.first(where: { $0 > name }) else {
                (former, latest) = (nil, names.last ?? "")
                return take(present)
            }
            if present >= 0 { close(present) }
            name = next
            // It may have been removed meanwhile.
            let file = Foundation.open(place(of: next), O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { continue }
            former = next
            return take(file)
        }
    }

    private func place(of name: String) -> String { URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent(name).path }

    private func take(_ file: Int32) {
        if descriptor >= 0 { close(descriptor) }
        descriptor = file
        (offset, waiting, taken, last) = (0, [], 0, [])
    }

    /// True when what was read last still stands before the offset.
    private var isContinued: Bool {
        guard !last.isEmpty else { return true }
        return octets(from: offset - Int64(last.count), count: last.count) == last
    }

    private func read() -> Bool {
        if taken > 0 {
            waiting.removeFirst(taken)
            taken = 0
        }
        let octets = octets(from: offset, count: Self.portion)
        guard !octets.isEmpty else { return false }
        waiting += octets
        offset += Int64(octets.count)
        last = Array((last + octets).suffix(Self.remembered))
        return true
    }

    private func octets(from offset: Int64, count: Int) -> [UInt8] {
        guard descriptor >= 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            repeat { initialized = pread(descriptor, buffer.baseAddress, count, off_t(offset)) } while initialized < 0 && errno == EINTR
            initialized = max(0, initialized)
        }
    }

    /// The first line with a time that begins after an offset, and where it begins.
    private func firstTime(from offset: Int64, below end: Int64) -> (time: Timestamp, offset: Int64)? {
        let octets = octets(from: offset, count: Int(min(Int64(Self.longest), end - offset)))
        var start = octets.firstIndex(of: 0x0a).map { $0 + 1 } ?? octets.count
        while let end = octets[start...].firstIndex(of: 0x0a) {
            if let time = LogLine.Event(Array(octets[start..<end]))?.time { return (time, offset + Int64(start)) }
            start = end + 1
        }
        return nil
    }
}
