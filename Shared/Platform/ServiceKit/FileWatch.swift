internal import Foundation

/// Notices that files were replaced or written.
struct FileWatch: Sendable {
    private struct Mark: Hashable {
        let inode: UInt64
        let size: UInt64
        let modified: Date
    }

    private let files: [String]
    private var marks: [Mark?]

    init(_ files: [String]) {
        self.files = files
        marks = files.map(Self.mark)
    }

    /// True when one of them differs from what was found the last time.
    mutating func hasChanged() -> Bool {
        let found = files.map(Self.mark)
        defer { marks = found }
        return found != marks
    }

    private static func mark(_ file: String) -> Mark? {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: file) else { return nil }
        return Mark(
            inode: (attributes[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0, size: (attributes[.size] as? NSNumber)?.uint64Value ?? 0,
            modified: attributes[.modificationDate] as? Date ?? .distantPast)
    }
}
