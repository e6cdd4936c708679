#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Tells one version of a set of files from another without reading them.
struct FileStamp: Equatable {
    private struct Entry: Equatable {
        var device: UInt64
        var inode: UInt64
        var size: Int64
        var seconds: Int64
        var nanoseconds: Int64
    }

    private var entries: [Entry?]

    init(_ files: TlsFiles) {
        entries = [files.certificate, files.key, files.trustAnchors].map(Self.entry)
    }

    private static func entry(_ path: String) -> Entry? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        #if canImport(Darwin)
        let changed = status.st_mtimespec
        #else
        let changed = status.st_mtim
        #endif
        return Entry(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            seconds: Int64(changed.tv_sec), nanoseconds: Int64(changed.tv_nsec))
    }
}
