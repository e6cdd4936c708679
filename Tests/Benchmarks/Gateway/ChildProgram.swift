import Foundation
import Glibc

/// A program that runs beside this one.
///
/// Not Foundation's `Process`: it takes a program for running as long as anything that the program left behind runs.
final class ChildProgram {
    let processID: pid_t
    private let output: Int32
    private var hasEnded = false

    /// - Parameters:
    ///   - path: The path of the program.
    ///   - environment: Beside that of this program.
    init(_ path: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw BenchmarkFailure("no more pipes") }
        output = ends[0]
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        // Threads of the Swift runtime block signals that a program may live by, and a child inherits that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0.key)=\($0.value)" }
        var child: pid_t = 0
        let status = Self.withStrings([path] + arguments) { words in
            Self.withStrings(variables) { posix_spawn(&child, path, &actions, &attributes, words, $0) }
        }
        guard status == 0 else {
            close(ends[0])
            throw BenchmarkFailure("\(path) cannot be started")
        }
        processID = child
    }

    deinit { close(output) }

    /// Ends it at once.
    func stop() {
        guard !hasEnded else { return }
        kill(processID, SIGKILL)
        _ = wait()
    }

    /// Reads away what it prints, so that it never waits for a reader.
    func ignoreOutput() {
        let copy = dup(output)
        Thread.detachNewThread {
            var bytes = [UInt8](repeating: 0, count: 65_536)
            while read(copy, &bytes, bytes.count) > 0 {}
            close(copy)
        }
    }

    /// The first line that it prints.
    func line() -> String {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1, byte != UInt8(ascii: "\n") { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The last line that it prints, once it has ended.
    /// - Throws: `BenchmarkFailure` when its status is not 0.
    static func lastLine(_ path: String, _ arguments: [String], environment: [String: String] = [:]) throws -> String {
        let child = try ChildProgram(path, arguments, environment: environment)
        var last = ""
        while case let line = child.line(), !line.isEmpty { last = line }
        try child.finish(path, arguments)
        return last
    }

    /// Runs it to its end; what it leaves behind may go on.
    /// - Throws: `BenchmarkFailure` when its status is not 0.
    static func run(_ path: String, _ arguments: [String], environment: [String: String]) throws {
        try ChildProgram(path, arguments, environment: environment).finish(path, arguments)
    }

    private func finish(_ path: String, _ arguments: [String]) throws {
        guard wait() == 0 else { throw BenchmarkFailure("\(path) \(arguments.first ?? "") failed") }
    }

    private func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0, errno == EINTR {}
        hasEnded = true
        return status
    }

    private static func withStrings<Result>(_ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result) -> Result {
        let copies = texts.map { strdup($0) }
        defer { copies.forEach { free($0) } }
        return body(copies + [nil])
    }
}

/// Why there is nothing to measure.
struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
