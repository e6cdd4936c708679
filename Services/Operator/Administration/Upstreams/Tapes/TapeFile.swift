internal import CommandKit
internal import Foundation
internal import StrictJson

/// The file of a tape: a line that says what it is, then one for each exchange.
enum TapeFile {
    static let largest = 64 * 1024 * 1024
    static let mostExchanges = 10_000
    static let largestLine = 8 * 1024 * 1024
    private static let version: Int64 = 1

    static func head(upstream: String) -> String {
        TapeValue.object([("boxofficeTape", .number("\(version)")), ("upstream", .string(upstream))]).text
    }

    /// Makes a file that only its owner reads.
    /// - Throws: `CommandFailure` where one is there already, or none can be made.
    static func make(_ path: String) throws -> FileHandle {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let reason = errno
            guard reason != EEXIST else {
                throw CommandFailure("\(path) is there already", advice: "give another name, or remove it: a tape is not overwritten", exit: .usage)
            }
            throw CommandFailure("cannot make \(path)", advice: String(cString: strerror(reason)), exit: .usage)
        }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// - Throws: `CommandFailure` with the line that cannot be used.
    static func read(_ path: String) throws -> [TapedExchange] {
        let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
        guard size <= largest else { throw CommandFailure("\(path) is larger than \(largest) octets", advice: "record less at a time", exit: .usage) }
        do { return try exchanges(Array(try TextFile.content(path))) } catch let fault as Rejection {
            throw CommandFailure("\(path), line \(fault.line): it \(fault.text)", advice: "record the tape again, or mend the line", exit: .usage)
        }
    }

    struct Rejection: Error {
        /// From 1.
        let line: Int
        let text: String
    }

    /// - Throws: `Rejection`.
    static func exchanges(_ content: [UInt8]) throws -> [TapedExchange] {
        var exchanges: [TapedExchange] = []
        for (index, line) in content.split(separator: 0x0a, omittingEmptySubsequences: false).enumerated() {
            guard index > 0 || !line.isEmpty else { throw Rejection(line: 1, text: "is empty, not a tape") }
            if line.isEmpty { continue }
            guard line.count <= largestLine else { throw Rejection(line: index + 1, text: "is longer than \(largestLine) octets") }
            guard exchanges.count < mostExchanges else { throw Rejection(line: index + 1, text: "is more than \(mostExchanges) exchanges") }
            do throws(TapeRejection) {
                if index == 0 { try check(head: Array(line)) } else { exchanges.append(try TapedExchange(Array(line))) }
            } catch {
                throw Rejection(line: index + 1, text: error.text)
            }
        }
        return exchanges
    }

    private static func check(head line: [UInt8]) throws(TapeRejection) {
        let root = (try? JsonDocument(parsing: line).root).map { TapeValue($0) }
        guard let version = root?["boxofficeTape"]?.integer else { throw TapeRejection("is not the first line of a tape") }
        guard version == Self.version else {
            throw TapeRejection("is of a tape of version \(version), and this program plays version \(Self.version)")
        }
    }
}

/// Writes what goes to and fro onto a tape.
actor TapeRecorder {
    private var scrubber = TapeScrubber()
    private let file: FileHandle
    private var size = 0
    private(set) var count = 0
    /// What comes is not written any more for this reason.
    private(set) var problem: String?

    /// - Throws: `CommandFailure` where the file cannot be written.
    init(_ path: String, upstream: String) throws {
        file = try TapeFile.make(path)
        let head = TapeFile.head(upstream: upstream) + "\n"
        try file.write(contentsOf: Data(head.utf8))
        size = head.utf8.count
    }

    private static func full(_ count: Int) -> String { "the tape is full after \(count) exchanges" }

    /// - Parameter now: Milliseconds since 1970.
    func record(_ call: TapeCall, _ answer: TapeAnswer, now: Int64) {
        guard problem == nil else { return }
        guard call.body.count + answer.body.count <= TapeFile.largestLine else {
            problem = Self.full(count)
            return
        }
        let request = scrubber.request(call)
        let line = TapedExchange(at: now, request: request, answer: scrubber.answer(answer, to: call)).line + "\n"
        guard count < TapeFile.mostExchanges, size + line.utf8.count <= TapeFile.largest, line.utf8.count <= TapeFile.largestLine else {
            problem = Self.full(count)
            return
        }
        do {
            try file.write(contentsOf: Data(line.utf8))
            size += line.utf8.count
            count += 1
        } catch {
            problem = "the tape cannot be written (\(PlainReason.of(error)))"
        }
    }
}
