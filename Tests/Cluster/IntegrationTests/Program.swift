import CSpawn
import Foundation
import Testing

/// A program that is expected to end by itself.
struct Program {
    let status: Int32
    /// The output on both streams.
    let output: String

    var lines: [String] { output.split(separator: "\n").map(String.init) }

    /// Runs it, at most 20 s.
    static func run(_ executable: String, _ arguments: [String]) throws -> Program {
        let log = FileManager.default.temporaryDirectory.appendingPathComponent("program-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: log) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
        cspawn_close_from(&actions, STDERR_FILENO + 1)
        var vector: [UnsafeMutablePointer<CChar>?] = (["timeout", "20", executable] + arguments).map { strdup($0) }
        defer { vector.forEach { free($0) } }
        vector.append(nil)
        var pid: pid_t = 0
        try #require(posix_spawn(&pid, "/usr/bin/timeout", &actions, nil, vector, environ) == 0)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        let code = status & 0x7f == 0 ? (status >> 8) & 0xff : -1
        return Program(status: code, output: try String(contentsOf: log, encoding: .utf8))
    }
}
