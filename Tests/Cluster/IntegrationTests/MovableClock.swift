@testable import CommandKit
import Foundation
import Synchronization
import Testing

/// The time of day that a cluster's programs see, by Debian's libfaketime: a test moves it while they run. Timers go by the monotonic clock, which stays.
final class MovableClock: Sendable {
    /// The variables that a program needs.
    let environment: [String: String]
    private let folder: URL
    private let memory: SharedMemory
    private let ahead = Mutex(Duration.zero)

    /// - Throws: Where libfaketime is not installed, or no compiler for C is.
    init() async throws {
        let libraries = ["x86_64", "aarch64"].map { "/usr/lib/\($0)-linux-gnu/faketime/libfaketimeMT.so.1" }
        let library = try #require(libraries.first(where: FileManager.default.fileExists), "the Debian package 'faketime' is not installed")
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("clock-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (timers, moment) = (folder.appendingPathComponent("timers.so"), folder.appendingPathComponent("moment"))
        // The library spoils timers of the kernel: these are set as the program says.
        let source = Checkout.current.appendingPathComponent("Tests/Cluster/Year/timers.c").path
        let compiled = try Program.run("/usr/bin/env", ["clang", "-shared", "-fPIC", "-O1", "-o", timers.path, source])
        try #require(compiled.status == 0, "\(compiled.output)")
        try Data("+0\n".utf8).write(to: moment)
        let variables = [
            "LD_PRELOAD": "\(timers.path):\(library)", "FAKETIME_TIMESTAMP_FILE": moment.path, "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1",
        ]
        memory = try await SharedMemory(variables, log: folder.appendingPathComponent("keeper.log"))
        environment = variables.merging(["FAKETIME_SHARED": memory.name]) { $1 }
    }

    /// The time by which the programs' clocks are ahead of the machine's.
    var offset: Duration { ahead.withLock { $0 } }

    /// Lets time go by for all programs at once.
    /// - Parameter span: Whole seconds, forward.
    func pass(_ span: Duration) throws {
        try ahead.withLock { ahead in
            ahead += span
            // Replaced as a whole: the programs read it with each look at the clock.
            try Data("+\(ahead.components.seconds)\n".utf8).write(to: folder.appendingPathComponent("moment"), options: .atomic)
        }
    }

    func end() {
        memory.end()
        try? FileManager.default.removeItem(at: folder)
    }

    /// The library's memory for all programs. One that finds none makes it, and puts its name into its own environment: a Swift program then no longer
    /// finds its arguments. So a program without arguments of its own makes it for all.
    private struct SharedMemory {
        private static let folder = URL(fileURLWithPath: "/dev/shm")
        let name: String
        private let files: [URL]
        private let keeper: Int32

        init(_ variables: [String: String], log: URL) async throws {
            // One of a process that had the same id would be in the way.
            for file in (try? FileManager.default.contentsOfDirectory(atPath: Self.folder.path)) ?? [] where file.contains("faketime_s") {
                let owner = file.split(separator: "_").last.map(String.init) ?? ""
                guard Int(owner) != nil, !FileManager.default.fileExists(atPath: "/proc/\(owner)") else { continue }
                try? FileManager.default.removeItem(at: Self.folder.appendingPathComponent(file))
            }
            // It ends with the tests, however they end.
            let pid = try ServiceProcess.spawn(
                URL(fileURLWithPath: "/usr/bin/tail"), arguments: ["--pid=\(getpid())", "-f", "/dev/null"], environment: variables, log: log)
            let made = ["sem.faketime_sem_\(pid)", "faketime_shm_\(pid)"].map { Self.folder.appendingPathComponent($0) }
            (keeper, files, name) = (pid, made, "/faketime_sem_\(pid) /faketime_shm_\(pid)")
            try await Condition.wait("libfaketime has made its memory") { made.allSatisfy { FileManager.default.fileExists(atPath: $0.path) } }
        }

        func end() {
            // Whoever starts it may keep other signals from it.
            kill(keeper, SIGKILL)
            var status: Int32 = 0
            waitpid(keeper, &status, 0)
            for file in files { try? FileManager.default.removeItem(at: file) }
        }
    }
}
