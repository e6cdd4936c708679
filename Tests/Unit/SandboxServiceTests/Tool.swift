import Foundation

/// Runs programs that are independent of this package's code. Foundation's `Process` waits on a run loop, which the few threads of a test run do not
/// turn. Here the thread itself waits, for programs that take milliseconds.
enum Tool {
    struct Outcome {
        let status: Int32
        let output: Data
    }

    struct CannotStart: Error {
        let program: String
        let code: Int32
    }

    @discardableResult
    static func run(_ program: String, _ arguments: [String], input: Data = Data()) throws -> Outcome {
        let source = temporaryFile(), sink = temporaryFile()
        defer { for file in [source, sink] { try? FileManager.default.removeItem(at: file) } }
        try input.write(to: source)
        let child = try spawn(program, arguments, from: source.path(), to: sink.path())
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        return Outcome(status: status, output: try Data(contentsOf: sink))
    }

    /// Runs a program on a text in a temporary file, which is its last argument.
    static func run(_ program: String, _ arguments: [String], on text: String) throws -> Outcome {
        let file = temporaryFile()
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(text.utf8).write(to: file)
        return try run(program, arguments + [file.path()])
    }

    private static func temporaryFile() -> URL { FileManager.default.temporaryDirectory.appending(path: "sandbox-\(UUID().uuidString).xml") }

    private static func spawn(_ program: String, _ arguments: [String], from source: String, to sink: String) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, source, O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, sink, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        let words = ([program] + arguments).map { strdup($0) }
        defer { words.forEach { free($0) } }
        var child: pid_t = 0
        let code = posix_spawnp(&child, program, &actions, nil, words + [nil], environ)
        if code != 0 { throw CannotStart(program: program, code: code) }
        return child
    }
}
