#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import Synchronization

/// Who this program is towards its peers, and whom it trusts: loaded from files, replaceable while connections are open.
///
/// New connections use the newest version that loaded; open ones keep theirs.
public final class TlsIdentity: Sendable {
    private struct State {
        var context: TlsContext
        var stamp: FileStamp
    }

    public let files: TlsFiles
    private let refused: [CertificateDigest]
    private let state: Mutex<State>

    /// - Parameter refused: Certificates of peers and of authorities that were taken back; one that is among them is not accepted, whoever signed it.
    /// - Throws: `unusable_file` naming the file; `out_of_memory`.
    public init(files: TlsFiles, refused: [CertificateDigest] = []) throws(TlsError) {
        self.files = files
        self.refused = refused
        let stamp = FileStamp(files)
        let context = try TlsContext(files: files, refused: refused)
        state = Mutex(State(context: context, stamp: stamp))
    }

    /// Reads the files again; when one is bad, the old version stays in use.
    /// - Throws: As the initializer.
    public func reload() throws(TlsError) {
        let stamp = FileStamp(files)
        let context = try TlsContext(files: files, refused: refused)
        state.withLock { $0 = State(context: context, stamp: stamp) }
    }

    /// Reads the files again when one of them was replaced or written since the last successful load.
    /// - Returns: True when a new version is in use now.
    /// - Throws: As the initializer, at each call until the files are good; the old version stays in use.
    public func reloadIfChanged() throws(TlsError) -> Bool {
        let stamp = FileStamp(files)
        guard state.withLock({ $0.stamp != stamp }) else { return false }
        try reload()
        return true
    }

    /// The name of the host in this program's own certificate; `nil` when it was made for none.
    public var hostName: String? { HostName.of(context.names) }

    var context: TlsContext { state.withLock { $0.context } }
}

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
