internal import Faults
internal import Glibc
internal import Storage
internal import Synchronization

/// Tells when another process has committed to the store's file, so that several processes of one machine can share it and still cache.
///
/// SQLite keeps a counter of committed transactions in the header of the shared WAL index (the `-shm` file, "iChange" at byte 8 of
/// <https://www.sqlite.org/walformat.html#the_wal_index_file_format>). It is mapped here: to look costs a load from memory, no system call. The
/// store says when it commits itself; every other change of the counter is another process's.
final class SqliteChanges: StoreChanges {
    /// The value that the counter has without a foreign commit; with `pending`, one more may be this process's own commit.
    private struct Window {
        static let pending: UInt64 = 1 << 32

        static func of(_ count: UInt32, pending: Bool = false) -> UInt64 { UInt64(count) | (pending ? Self.pending : 0) }

        static func covers(_ window: UInt64, _ count: UInt32) -> Bool {
            let base = UInt32(truncatingIfNeeded: window)
            return count == base || (window & pending != 0 && count == base &+ 1)
        }
    }

    private let index: MappedIndex
    private let window: Atomic<UInt64>
    private let foreign = Atomic<UInt64>(0)
    /// The generation in which this process last began to commit.
    private let ownCommit = Atomic<UInt64>(0)

    /// - Parameter file: Path of the SQLite file, open in WAL mode.
    /// - Throws: `StoreError` when its WAL index cannot be mapped.
    init(file: String) throws(StoreError) {
        index = try MappedIndex.of(file)
        window = Atomic(Window.of(index.count))
    }

    /// Changes whenever what was read before may be out of date because another process wrote.
    var generation: UInt64 {
        while true {
            let expected = window.load(ordering: .acquiring)
            let count = index.count
            if Window.covers(expected, count) { return foreign.load(ordering: .acquiring) }
            // A commit of this process may have come between the two loads; then the window has moved.
            if window.compareExchange(expected: expected, desired: Window.of(count), ordering: .acquiringAndReleasing).exchanged {
                return foreign.add(1, ordering: .acquiringAndReleasing).newValue
            }
        }
    }

    /// True when no other process has committed since this one last began to.
    var isLastCommitOwn: Bool { generation == ownCommit.load(ordering: .acquiring) }

    /// To be called in a transaction that holds the write lock, before its commit: the next change of the counter is its own.
    func willCommit() {
        ownCommit.store(generation, ordering: .releasing)
        window.store(Window.of(index.count, pending: true), ordering: .releasing)
    }

    /// To be called when such a transaction has been committed.
    func didCommit() {
        let expected = window.load(ordering: .acquiring)
        guard expected & Window.pending != 0 else { return }
        let next = UInt32(truncatingIfNeeded: expected) &+ 1
        _ = window.compareExchange(expected: expected, desired: Window.of(next), ordering: .acquiringAndReleasing)
    }

    /// To be called when it is not certain what became of a transaction after `willCommit`.
    func markUncertain() {
        window.store(Window.of(index.count), ordering: .releasing)
        foreign.add(1, ordering: .acquiringAndReleasing)
    }
}

/// The first page of a WAL index, mapped for reading.
///
/// One for all stores of this process that share a file. Closing any descriptor of a file drops all locks that the process has on it (fcntl(2)),
/// SQLite's too. So it may only be closed when no store of the process has the file open.
private final class MappedIndex: Sendable {
    private struct File: Hashable {
        let device: UInt64
        let inode: UInt64
    }

    private struct Entry {
        weak var index: MappedIndex?
    }

    private static let open = Mutex<[File: Entry]>([:])
    private static let size = 4096
    private static let counterOffset = 8

    private let address: UInt
    private let descriptor: Int32

    static func of(_ file: String) throws(StoreError) -> MappedIndex {
        try open.withLock { open throws(StoreError) in
            var status = stat()
            guard stat("\(file)-shm", &status) == 0, status.st_size >= size else {
                throw StoreError(file: file, reason: "has no WAL index beside it; it must lie on a local disk")
            }
            let key = File(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
            if let known = open[key]?.index { return known }
            let index = try MappedIndex(file)
            open = open.filter { $0.value.index != nil }
            open[key] = Entry(index: index)
            return index
        }
    }

    private init(_ file: String) throws(StoreError) {
        descriptor = Glibc.open("\(file)-shm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0, let mapped = mmap(nil, Self.size, PROT_READ, MAP_SHARED, descriptor, 0), mapped != MAP_FAILED else {
            throw StoreError(
                file: file, reason: "has a WAL index that cannot be mapped (\(String(cString: strerror(errno)))); it must lie on a local disk")
        }
        address = UInt(bitPattern: mapped)
    }

    /// Committed transactions, modulo 2³².
    var count: UInt32 {
        guard let counter = UnsafePointer<Atomic<UInt32>>(bitPattern: address + UInt(Self.counterOffset)) else { return 0 }
        return counter.pointee.load(ordering: .acquiring)
    }

    deinit {
        munmap(UnsafeMutableRawPointer(bitPattern: address), Self.size)
        close(descriptor)
    }
}
