internal import CommandKit
internal import Foundation

/// A program that is run to its end.
struct Subprocess {
    let status: Int32
    let output: Data
    let error: String

    /// The last line that it complained with.
    var complaint: String { error.split(separator: "\n").last.map(String.init) ?? "it ended with \(status)" }

    /// - Parameter environment: Beside this program's own; before it where both name a variable.
    /// - Throws: `CommandFailure` when it cannot be started.
    static func run(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws -> Subprocess {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let (output, error) = (Pipe(), Pipe())
        process.standardInput = FileHandle.nullDevice
        (process.standardOutput, process.standardError) = (output, error)
        do {
            try process.run()
        } catch {
            throw CommandFailure("cannot start \(program)", advice: PlainReason.of(error))
        }
        // Read beside one another: whoever waits for a full pipe would wait for ever.
        let complaints = Gathered(error.fileHandleForReading)
        let answers = Gathered(output.fileHandleForReading)
        process.waitUntilExit()
        return Subprocess(status: process.terminationStatus, output: answers.wait(), error: String(decoding: complaints.wait(), as: UTF8.self))
    }
}

/// All that comes out of a pipe.
private final class Gathered: @unchecked Sendable {
    // Written by the one thread that reads, and read when that has ended.
    private var content = Data()
    private let end = DispatchSemaphore(value: 0)

    init(_ handle: FileHandle) {
        Thread.detachNewThread {
            self.content = handle.readDataToEndOfFile()
            self.end.signal()
        }
    }

    func wait() -> Data {
        end.wait()
        return content
    }
}
