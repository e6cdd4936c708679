#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
package import CoreMetrics
internal import Faults

/// A store takes no writes for this reason, while it may still be read.
public struct StoreRefusal: Sendable, Hashable {
    public enum Reason: String, Sendable {
        case full
        case readOnly = "read-only"
        /// The disk, or the way to it.
        case failing = "the disk fails"
    }

    public let reason: Reason
    /// The advice for the log.
    public let advice: String

    package init(reason: Reason, advice: String) { (self.reason, self.advice) = (reason, advice) }
}

/// Room of a file system.
package struct DiskRoom: Sendable, Hashable {
    /// Bytes that this user may still take, and all that there are.
    package let free, size: Int
    package let isReadOnly: Bool

    /// The file system of a file or folder; `nil`: the system does not say.
    package init?(at path: String) {
        var facts = statvfs()
        guard statvfs(path, &facts) == 0 else { return nil }
        let block = Int(clamping: facts.f_frsize)
        free = Int(clamping: facts.f_bavail).multipliedReportingOverflow(by: block).partialValue
        size = Int(clamping: facts.f_blocks).multipliedReportingOverflow(by: block).partialValue
        isReadOnly = facts.f_flag & UInt(ST_RDONLY) != 0
    }
}

/// A store's knowledge of writes that were not taken.
struct StoreRefusals: Sendable {
    /// The latest was not taken for this reason; `nil`: writes are taken.
    private(set) var latest: StoreRefusal?
    /// Writes that were not taken since the store was opened.
    private(set) var count = 0

    /// - Returns: True when it is not known yet why.
    mutating func note() -> Bool {
        count += 1
        return latest == nil
    }

    mutating func begin(_ refusal: StoreRefusal) { latest = refusal }

    /// Writes are taken again, unless one was not since `count` of them.
    mutating func end(after count: Int) -> Bool {
        guard self.count == count else { return false }
        latest = nil
        return true
    }
}

extension Store {
    /// The store takes no writes at present for this reason, for operators; `nil`: it takes them. Reads go on.
    public var refusal: StoreRefusal? { refusals.withLock { $0.latest } }

    /// Writes that the disk did not take since the store was opened.
    public var refusedWrites: Int { refusals.withLock { $0.count } }

    /// Tries whether writes are taken again; `refusal` is `nil` then.
    public func takesWritesAgain() async -> Bool {
        let count = refusedWrites
        guard await engine.takesWrites() else { return false }
        return refusals.withLock { $0.end(after: count) }
    }

    /// Notes a write that failed because of the disk.
    func noteWrite<Value>(_ result: Result<Value, Fault>) {
        guard case .failure(let fault) = result, let error = fault.cause as? DatabaseError, error.kind == .full || error.kind == .diskFails else {
            return
        }
        metrics.refused.increment()
        guard refusals.withLock({ $0.note() }) else { return }
        let refusal = engine.refusal(error)
        refusals.withLock { $0.begin(refusal) }
    }
}

/// A store's file cannot be used for this reason; one line for the operator who starts the service.
public struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    public let file: String
    public let reason: String
    /// The longest pause before another try, of what may be over by itself: a server that is away, for example. `nil`: somebody has to change something first.
    public let retryPause: Duration?

    package init(file: String, reason: String, retryPause: Duration? = nil) {
        self.file = file
        self.reason = reason
        self.retryPause = retryPause
    }

    public var description: String { "store \(file): \(reason)" }
}

/// Advice where a file cannot be made or written.
public enum FileTrouble {
    /// - Parameter code: `errno`, right after the call.
    /// - Returns: The end of a sentence.
    public static func advice(_ code: Int32) -> String {
        switch code {
        case EROFS: "its file system is mounted read-only: mount it for writing, or name another folder"
        case ENOSPC: "its file system is full: make room"
        case ENOTDIR, EEXIST: "a file stands where a folder is to be: name another folder"
        case EDQUOT: "the disk quota of this user is used up: make room"
        default: "check the folder's owner and mode"
        }
    }

    /// Makes a folder that is missing, and those above it, for this user alone.
    /// - Returns: `errno` of what failed; `nil`: it is there.
    public static func makeFolder(_ path: String) -> Int32? {
        var facts = stat()
        if stat(path, &facts) == 0 { return facts.st_mode & S_IFMT == S_IFDIR ? nil : ENOTDIR }
        if mkdir(path, 0o700) == 0 { return nil }
        let code = errno
        guard code == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return code == EEXIST ? nil : code }
        if let code = makeFolder(String(path[..<slash])) { return code }
        return mkdir(path, 0o700) == 0 || errno == EEXIST ? nil : errno
    }

    /// The same for a file that is there, or whose folder is.
    public static func advice(_ path: String) -> String {
        guard access(path, W_OK) != 0 else { return "check its owner and mode, and its folder's" }
        return errno == EROFS ? advice(EROFS) : "check its owner and mode, and its folder's"
    }
}

/// The metrics of a store, all labelled with its name.
package struct StoreMetrics: Sendable {
    /// The store's name.
    let store: String
    package let commits: Counter
    package let failedCommits: Counter
    package let batchSize: Recorder
    package let queueDepth: Gauge
    package let commitSeconds: Timer
    package let refused: Counter
    package let retries: Counter
    package let bytes: Gauge

    private let factory: any MetricsFactory

    /// - Parameters:
    ///   - store: Its name.
    ///   - factory: Keeps the numbers.
    package init(store: String, factory: any MetricsFactory = MetricsSystem.factory) {
        self.store = store
        self.factory = factory
        let labels = [("store", store)]
        commits = Counter(label: "boxoffice_storage_commits_total", dimensions: labels, factory: factory)
        failedCommits = Counter(label: "boxoffice_storage_failed_commits_total", dimensions: labels, factory: factory)
        batchSize = Recorder(label: "boxoffice_storage_batch_size_writes", dimensions: labels, aggregate: true, factory: factory)
        queueDepth = Gauge(label: "boxoffice_storage_queue_depth_writes", dimensions: labels, factory: factory)
        commitSeconds = Timer(label: "boxoffice_storage_commit_seconds", dimensions: labels, factory: factory)
        bytes = Gauge(label: "boxoffice_storage_bytes", dimensions: labels, factory: factory)
        retries = Counter(label: "boxoffice_storage_retries_total", dimensions: labels, factory: factory)
        refused = Counter(label: "boxoffice_storage_refused_total", dimensions: labels, factory: factory)
    }

    /// Tells how many entries a cache may have.
    /// - Returns: For how many it has.
    func cache(_ name: String, limit: Int) -> Gauge {
        let labels = [("store", store), ("cache", name)]
        Gauge(label: "boxoffice_storage_cache_limit_entries", dimensions: labels, factory: factory).record(limit)
        return Gauge(label: "boxoffice_storage_cache_entries", dimensions: labels, factory: factory)
    }

    // A store that has none of these has no series of them: a zero would be a fact.

    /// - Parameter limit: Bytes.
    func record(limit: Int) { gauge("boxoffice_storage_limit_bytes").record(limit) }

    /// - Parameter overhead: Bytes.
    func record(_ overhead: (free: Int, journal: Int)) {
        gauge("boxoffice_storage_free_bytes").record(overhead.free)
        gauge("boxoffice_storage_journal_bytes").record(overhead.journal)
    }

    func record(_ disk: DiskRoom) {
        gauge("boxoffice_storage_disk_free_bytes").record(disk.free)
        gauge("boxoffice_storage_disk_bytes").record(disk.size)
    }

    private func gauge(_ label: String) -> Gauge { Gauge(label: label, dimensions: [("store", store)], factory: factory) }
}
