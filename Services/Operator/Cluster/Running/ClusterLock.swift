internal import CommandKit
internal import Foundation

/// Lets one `up` at a time work on a home folder; released by the kernel when the process dies.
struct ClusterLock {
    private let descriptor: Int32

    /// - Throws: `CommandFailure` when another `up` is starting this cluster.
    init(_ home: ClusterHome) throws {
        descriptor = open(home.lockFile.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandFailure("cannot open \(home.lockFile.path)", advice: String(cString: strerror(errno))) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw CommandFailure("another 'up' is starting the cluster in \(home.root.path)", advice: "wait for it, or set another BOXOFFICE_HOME")
        }
    }

    func release() { close(descriptor) }
}
