#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Why a store's file cannot be used; one line for the operator who starts the service.
public struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    public let file: String
    public let reason: String

    package init(file: String, reason: String) {
        self.file = file
        self.reason = reason
    }

    public var description: String { "store \(file): \(reason)" }
}

/// What to do where a file cannot be made or written.
public enum FileTrouble {
    /// - Parameter code: `errno`, right after the call.
    /// - Returns: The end of a sentence.
    public static func advice(_ code: Int32) -> String {
        switch code {
        case EROFS: "its file system is mounted read-only: mount it for writing, or name another folder"
        case ENOSPC: "its file system is full: make room"
        case EDQUOT: "the disk quota of this user is used up: make room"
        default: "check the folder's owner and mode"
        }
    }

    /// The same for a file that is there, or whose folder is.
    public static func advice(_ path: String) -> String {
        guard access(path, W_OK) != 0 else { return "check its owner and mode, and its folder's" }
        return errno == EROFS ? advice(EROFS) : "check its owner and mode, and its folder's"
    }
}
