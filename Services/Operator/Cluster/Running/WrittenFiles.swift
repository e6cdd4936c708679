internal import CommandKit
internal import Cryptography
package import Foundation

/// Which files of a cluster's home this command wrote, and what it wrote: what somebody has changed since is theirs and stays as it is.
package struct WrittenFiles {
    /// What became of a file.
    enum Outcome: Equatable {
        /// It was missing, or as this command had left it.
        case written
        /// It says already what would be written.
        case same
        /// It is somebody's, and says something else.
        case kept
    }

    /// By the file's name; a digest of the content.
    private var digests: [String: String]
    private let record: URL

    /// - Parameter record: Where the digests are kept. A home of an earlier release has none: all its files are somebody's then.
    init(record: URL) {
        self.record = record
        let content = FileManager.default.contents(atPath: record.path)
        digests = content.flatMap { try? JSONDecoder().decode([String: String].self, from: $0) } ?? [:]
    }

    /// Writes the file as a whole unless it is somebody's.
    /// - Throws: `CommandFailure` naming the file that cannot be written.
    mutating func write(_ content: Data, to file: URL) throws -> Outcome {
        if let there = FileManager.default.contents(atPath: file.path) {
            if there == content {
                digests[file.lastPathComponent] = Self.digest(content)
                return .same
            }
            guard digests[file.lastPathComponent] == Self.digest(there) else { return .kept }
        }
        try Self.replace(file, with: content)
        digests[file.lastPathComponent] = Self.digest(content)
        return .written
    }

    /// Makes room for a file that somebody brings.
    /// - Returns: Where the file is now, if it was somebody's: beside its place, with a number.
    /// - Throws: `CommandFailure` when it cannot be moved.
    mutating func giveWay(_ file: URL) throws -> URL? {
        guard let there = FileManager.default.contents(atPath: file.path) else { return nil }
        guard digests.removeValue(forKey: file.lastPathComponent) != Self.digest(there) else { return nil }
        for number in 1...1000 {
            let place = file.deletingLastPathComponent().appendingPathComponent("\(file.lastPathComponent).\(number)")
            guard !FileManager.default.fileExists(atPath: place.path) else { continue }
            do {
                try FileManager.default.moveItem(at: file, to: place)
            } catch {
                throw CommandFailure("cannot keep \(file.path) as \(place.path)", advice: PlainReason.of(error))
            }
            return place
        }
        throw CommandFailure("\(file.path) has a thousand former versions beside it", advice: "remove some of them")
    }

    /// - Throws: `CommandFailure` when it cannot be written.
    func save() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try Self.replace(record, with: try encoder.encode(digests))
    }

    package static func replace(_ file: URL, with content: Data) throws {
        do {
            try content.write(to: file, options: .atomic)
        } catch {
            throw CommandFailure("cannot write \(file.path)", advice: "check its permissions and the free space (\(PlainReason.of(error)))")
        }
    }

    private static func digest(_ content: Data) -> String { Hex.encode(SHA256.hash(Array(content))) }
}
