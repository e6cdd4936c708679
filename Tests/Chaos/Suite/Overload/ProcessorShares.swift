import Foundation

/// Assigns programs to processors: the cluster has the first one for itself.
enum ProcessorShares {
    private static let taskset = "/usr/bin/taskset"

    /// Why they cannot be given; `nil` when they can.
    static var obstacle: String? {
        if ProcessInfo.processInfo.activeProcessorCount < 2 { return "the load needs a second processor" }
        return FileManager.default.isExecutableFile(atPath: taskset) ? nil : "\(taskset) is not there (Debian package 'util-linux')"
    }

    /// How a service is started.
    static var ofTheCluster: LaunchCondition { LaunchCondition(wrapper: [taskset, "-c", "0"]) }

    /// Moves all threads of this program to the other processors.
    static func leaveTheFirst() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: taskset)
        process.arguments = [
            "-a", "-c", "-p", "1-\(ProcessInfo.processInfo.activeProcessorCount - 1)", "\(ProcessInfo.processInfo.processIdentifier)",
        ]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw ChaosFailure("\(taskset) failed with \(process.terminationStatus)") }
    }
}
