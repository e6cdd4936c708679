internal import Foundation
internal import Testing

/// Commands with a reader that has gone, or without standard output.
@Suite struct OutputTests {
    private static let program = Bundle.main.bundleURL.appendingPathComponent("boxoffice").path

    private struct Ended {
        let status: Int32
        let error: String
    }

    /// Runs a line of the shell with the program in `$boxoffice`.
    private static func run(_ line: String) throws -> Ended {
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/bash")
        shell.arguments = ["-c", line]
        shell.environment = ProcessInfo.processInfo.environment.merging(["boxoffice": program, "TERM": "dumb"]) { $1 }
        let errors = Pipe()
        shell.standardError = errors
        shell.standardOutput = FileHandle.nullDevice
        try shell.run()
        let said = errors.fileHandleForReading.readDataToEndOfFile()
        shell.waitUntilExit()
        return Ended(status: shell.terminationStatus, error: String(decoding: said, as: UTF8.self))
    }

    private static let commands = [
        "--help", "call --help", "load --help", "catalogue --help", "conformance --list", "verify --help", "device --help",
    ]

    @Test("a reader that stops ends the command quietly", arguments: commands)
    func readerGoes(_ command: String) throws {
        let ended = try Self.run("\"$boxoffice\" \(command) | true; exit ${PIPESTATUS[0]}")
        #expect([0, 2, 141].contains(ended.status), "\(ended.status) \(ended.error.prefix(200))")
        #expect(!ended.error.contains("Fatal error") && !ended.error.contains("Crash"), "\(ended.error.prefix(200))")
    }

    @Test("without a standard output a command ends quietly", arguments: commands)
    func noOutput(_ command: String) throws {
        let ended = try Self.run("\"$boxoffice\" \(command) >&-")
        #expect([0, 1, 2].contains(ended.status), "\(ended.status) \(ended.error.prefix(200))")
        #expect(!ended.error.contains("Fatal error") && !ended.error.contains("Crash"), "\(ended.error.prefix(200))")
    }

    @Test("the reader of a command goes while the signal of a closed pipe is ignored", arguments: commands)
    func ignoredSignal(_ command: String) throws {
        let ended = try Self.run("trap '' PIPE; \"$boxoffice\" \(command) | true; exit ${PIPESTATUS[0]}")
        #expect(ended.status < 128 || ended.status == 141, "\(ended.status) \(ended.error.prefix(200))")
        #expect(!ended.error.contains("Fatal error") && !ended.error.contains("Crash"), "\(ended.error.prefix(200))")
    }
}
