#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Tells one content of a file from another without reading it.
struct FileVersion: Hashable, Sendable {
    private let inode: UInt64
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    /// All zero for a file that is not there.
    init(of path: String) {
        var facts = stat()
        guard stat(path, &facts) == 0 else {
            (inode, size, seconds, nanoseconds) = (0, 0, 0, 0)
            return
        }
        inode = UInt64(facts.st_ino)
        size = Int64(facts.st_size)
        seconds = facts.st_mtim.tv_sec
        nanoseconds = facts.st_mtim.tv_nsec
    }
}
