@testable import CommandKit
internal import Foundation
internal import Testing

@Suite struct ServiceProcessTests {
    /// A connection that another process held, too, would not end when this one closes it.
    @Test func aServiceGetsNoneOfTheFilesThatItsStarterHasOpen() throws {
        let log = FileManager.default.temporaryDirectory.appendingPathComponent("service-process-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: log) }
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { ends.forEach { close($0) } }
        let process = try ServiceProcess.start(.config, binary: URL(fileURLWithPath: "/bin/ls"), arguments: ["-1", "/proc/self/fd"], log: log)
        var status: Int32 = 0
        #expect(waitpid(process.pid, &status, 0) == process.pid && status == 0)
        let numbers = try String(contentsOf: log, encoding: .utf8).split(separator: "\n").compactMap { Int($0) }
        // The last one is the folder that is listed.
        #expect(numbers == [0, 1, 2, 3])
    }

    /// `up` would find its ports taken.
    @Test("a service that was killed runs until its last thread has ended, whoever started it", arguments: [true, false])
    func lastThread(isChild: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("service-process-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (program, log) = (folder.appendingPathComponent("config"), folder.appendingPathComponent("log"))
        try FileManager.default.createSymbolicLink(atPath: program.path, withDestinationPath: "/usr/bin/python3")
        // The first thread ends at once.
        let script =
            "import ctypes, threading, time; threading.Thread(target=time.sleep, args=(60,)).start(); ctypes.CDLL(None).pthread_exit(None)"
        let arguments = isChild ? ["-c", script] : ["-c", "\"$0\" -c \"$1\" >/dev/null 2>&1 & echo $!", program.path, script]
        var pid = try ServiceProcess.spawn(
            isChild ? program : URL(fileURLWithPath: "/bin/sh"), arguments: arguments, environment: [:], log: log)
        if !isChild {
            var status: Int32 = 0
            try #require(waitpid(pid, &status, 0) == pid)
            pid = try #require(Int32(try String(contentsOf: log, encoding: .utf8).trimmingCharacters(in: .newlines)))
        }
        let process = ServiceProcess(service: .config, pid: pid)
        defer { process.signal(SIGKILL) }
        try await wait { (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe")) == nil }
        #expect(process.isRunning)
        process.signal(SIGKILL)
        try await wait { !process.isRunning }
    }

    private func wait(until isMet: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(20)
        while !isMet() {
            try #require(ContinuousClock.now < end)
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test func aServiceIsNotWatchedInItsStartersPlace() {
        let own = ["NOTIFY_SOCKET": "/run/systemd/notify", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7", "PATH": "/bin", "A": "1"]
        let variables = ServiceProcess.variables(of: own, with: ["A": "2"])
        #expect(Set(variables.keys) == ["PATH", "A", "GLIBC_TUNABLES"] && variables["A"] == "2" && variables["PATH"] == "/bin")
    }
}
