internal import Foundation
internal import Glibc

/// Runs a command line program to its end.
///
/// Starts it with `posix_spawn`: `Process` reads beyond the list of open descriptors where a test program has more than about 1,300 of them.
enum Tool {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// - Returns: The program's standard output.
    @discardableResult
    static func run(_ name: String, _ arguments: [String]) throws -> Data {
        let output = Pipe()
        let complaints = Pipe()
        // No other program inherits them, which would be read as long as that one runs.
        for pipe in [output, complaints] {
            for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] { _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC) }
        }
        let pid = try spawn([name] + arguments, output.fileHandleForWriting.fileDescriptor, complaints.fileHandleForWriting.fileDescriptor)
        try output.fileHandleForWriting.close()
        try complaints.fileHandleForWriting.close()
        let written = output.fileHandleForReading.readDataToEndOfFile()
        let complaint = complaints.fileHandleForReading.readDataToEndOfFile()
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else {
            throw Failure(description: "\(name) \(arguments.first ?? ""): \(String(decoding: complaint.prefix(600), as: UTF8.self))")
        }
        return written
    }

    private static func spawn(_ words: [String], _ output: Int32, _ complaints: Int32) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, complaints, STDERR_FILENO)
        var vector = words.map { strdup($0) } + [nil]
        defer { vector.forEach { free($0) } }
        var pid = pid_t()
        let code = posix_spawnp(&pid, words[0], &actions, nil, &vector, environ)
        guard code == 0 else { throw Failure(description: "\(words[0]): \(String(cString: strerror(code)))") }
        return pid
    }
}
