import Foundation

/// The clock of one service, by Debian's libfaketime: it can be set while the service runs.
struct SkewedClock: Sendable {
    private static let libraries = ["x86_64", "aarch64"].map { "/usr/lib/\($0)-linux-gnu/faketime/libfaketimeMT.so.1" }
    private static var library: String? { libraries.first { FileManager.default.fileExists(atPath: $0) } }

    /// Why there can be none here; `nil` when there can.
    static var obstacle: String? { library == nil ? "libfaketime is not installed (Debian package 'faketime')" : nil }

    let file: URL

    /// How a service is started whose clock follows the file. Timers go by the monotonic clock, which stays.
    ///
    /// The library adds a variable to the environment of the first program that it meets. A Swift program finds its arguments beside the environment,
    /// and none once that has moved. So a shell goes first, and the program inherits the variable.
    var condition: LaunchCondition {
        LaunchCondition(
            environment: [
                "LD_PRELOAD": Self.library ?? "", "FAKETIME_TIMESTAMP_FILE": file.path, "FAKETIME_NO_CACHE": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1",
            ], wrapper: ["/bin/sh", "-c", #"exec "$@""#, "sh"])
    }

    /// - Parameter seconds: Ahead of the true time; negative: behind.
    func set(_ seconds: Int) throws {
        // In place: the library reads the file at each call, and must never find none.
        try Data((seconds < 0 ? "\(seconds)" : "+\(seconds)").utf8).write(to: file, options: .atomic)
    }
}
