import Foundation

/// Under which condition a service is started.
struct LaunchCondition: Sendable {
    /// Variables beside the service's own.
    var environment: [String: String] = [:]
    /// The largest file that it may write, in KiB; writes beyond fail as on a full disk. `nil`: as large as it likes.
    var fileLimit: Int?

    static let plain = LaunchCondition()

    /// Words before the program's own: a shell that sets the limit and becomes the program.
    var wrapper: [String]? {
        // The signal of the limit is ignored, so that the write fails as it does on a full disk.
        fileLimit.map { ["/bin/sh", "-c", "trap '' XFSZ; ulimit -S -f \($0 * 2); exec \"$@\"", "sh"] }
    }
}
