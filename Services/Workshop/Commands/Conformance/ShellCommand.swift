internal import CommandKit
internal import Foundation

/// A command given by the user.
struct ShellCommand {
    let text: String

    init(_ text: String) { self.text = text }

    /// - Throws: `CommandFailure` when it ends with another status than 0.
    func run() async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", text]
        process.standardInput = FileHandle.nullDevice
        let status: Int32 = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        guard status == 0 else { throw CommandFailure("'\(text)' ended with status \(status)") }
    }
}
