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

    @Test func aServiceIsNotWatchedInItsStartersPlace() {
        let own = ["NOTIFY_SOCKET": "/run/systemd/notify", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7", "PATH": "/bin", "A": "1"]
        let variables = ServiceProcess.variables(of: own, with: ["A": "2"])
        #expect(Set(variables.keys) == ["PATH", "A", "GLIBC_TUNABLES"] && variables["A"] == "2" && variables["PATH"] == "/bin")
    }
}
