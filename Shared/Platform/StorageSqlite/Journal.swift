internal import Foundation
internal import GRDB
internal import Storage

/// Keeps a file's write-ahead log (SQLite: WAL) from growing without an end.
///
/// After `pages` a commit puts them into the file, and the log begins anew as soon as no reader needs it. Under load there may always be one. Then
/// the writer waits a moment for the readers of that time, whose snapshots last for milliseconds, while new ones need the file alone. Only a snapshot
/// that lasts, such as that of a backup, lets the log grow, for as long as it lasts.
struct Journal {
    /// After which they are put into the file: a page that changes often is then put there less often.
    static let pages = 4000
    /// Bytes that the log has then, with its headers of 24 octets for each page and 32 for the file (sqlite.org/fileformat2.html, section 4).
    static let usual = 32 + pages * (StoreLimits.pageBytes + 24)
    /// Bytes from which on the writer waits for readers.
    static let most = 2 * usual
    /// Tries of half a millisecond: how long it waits at first, and at most after waits in vain.
    private static let tries = 100...800

    private let path: String
    private let patience: Patience
    private var tries = Self.tries.lowerBound
    private var next = ContinuousClock.now

    /// - Parameter file: The store's.
    init(file: String, patience: Patience) { (path, self.patience) = (file + "-wal", patience) }

    var bytes: Int {
        var facts = stat()
        return stat(path, &facts) == 0 ? Int(facts.st_size) : 0
    }

    /// To be called after a commit, by the writer.
    mutating func bound(_ database: GRDB.Database) {
        guard bytes > Self.most, .now >= next else { return }
        // A failure costs nothing: the log holds the same facts.
        if (try? patience.hurry(tries: tries) { try database.checkpoint(.truncate) }) != nil {
            tries = Self.tries.lowerBound
        } else {
            // A twentieth of the time at most is lost to a snapshot that lasts.
            next = .now + .milliseconds(10 * tries)
            tries = min(2 * tries, Self.tries.upperBound)
        }
    }
}
