import FoundationEssentials

/// Files of the repository that tests read.
enum TextFile {
    /// - Parameter path: Relative to the folder of these tests.
    static func read(_ path: String) throws -> String {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        return try String(contentsOf: folder.appending(path: path), encoding: .utf8)
    }

    /// Names of a folder's files, sorted.
    static func names(in path: String) throws -> [String] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        return try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: path).path()).sorted()
    }
}
