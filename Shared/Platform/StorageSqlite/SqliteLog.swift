internal import Foundation
internal import GRDBSQLite
internal import Synchronization

/// SQLite's messages beside its answers (sqlite.org/errlog.html).
enum SqliteLog {
    /// `SQLITE_NOTICE_RECOVER_WAL`.
    private static let recovery: CInt = 283
    private static let recovered = Mutex<[String: Int]>([:])

    /// Listens from then on. To be asked before the process opens its first file: later SQLite takes no listener.
    static let isListened: Bool = {
        _registerErrorLogCallback { _, code, message in
            if code == SqliteLog.recovery, let message { SqliteLog.note(String(cString: message)) }
        }
        return true
    }()

    private static func note(_ message: String) {
        guard let parts = message.wholeMatch(of: /recovered (\d+) frames from WAL file (.+)/), let frames = Int(parts.1) else { return }
        recovered.withLock { $0[String(parts.2)] = frames }
    }

    /// Frames of a file's write-ahead log that SQLite has read back since this was asked last.
    static func takeRecovered(of file: String) -> Int {
        let path = URL(fileURLWithPath: file).resolvingSymlinksInPath().path + "-wal"
        return recovered.withLock { $0.removeValue(forKey: path) } ?? 0
    }
}
