/// How much of the logs in a folder is kept, and when a program begins another file.
struct LogRetention: Sendable, Hashable {
    /// Bytes after which another file begins.
    var fileBytes = 64 << 20
    /// Former files are removed when their last line is that old. A file is begun for each day.
    var days = 14
    /// Bytes of all logs in the folder, whichever programs write them: the oldest former files go first.
    var allBytes = 1 << 30

    /// Half of the bound is for the files that are written now, so that these alone never go beyond it.
    /// - Parameter programs: How many share the folder, at least 1.
    func fileBytes(programs: Int) -> Int { max(Self.least, min(fileBytes, allBytes / (2 * max(1, programs)))) }

    private static let least = 64 * 1024
}
