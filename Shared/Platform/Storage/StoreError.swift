#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Why a store's file cannot be used; one line for the operator who starts the service.
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
