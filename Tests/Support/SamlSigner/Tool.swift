internal import Foundation

/// Runs a command line program to its end.
enum Tool {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// - Returns: What the program wrote to standard output.
    @discardableResult
    static func run(_ name: String, _ arguments: [String]) throws -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [name] + arguments
        let output = Pipe()
        let complaints = Pipe()
        process.standardOutput = output
        process.standardError = complaints
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let written = output.fileHandleForReading.readDataToEndOfFile()
        let complaint = complaints.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "\(name) \(arguments.first ?? ""): \(String(decoding: complaint.prefix(600), as: UTF8.self))")
        }
        return written
    }
}
