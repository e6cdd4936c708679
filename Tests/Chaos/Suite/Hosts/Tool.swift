import Foundation

/// Programs of the system that a suite needs for its surroundings.
enum Tool {
    /// A server that is started so would keep what `Process` waits for, and nobody would hear that the program has ended.
    private static let closingAll = #"for file in /proc/self/fd/*; do n=${file##*/}; [ "$n" -le 2 ] || eval "exec $n>&-"; done; exec "$@""#

    /// - Parameters:
    ///   - words: The program, found by `PATH`, and its arguments.
    ///   - input: Given to it.
    ///   - folder: It runs there; `nil`: here.
    /// - Returns: The output, without the last line break.
    /// - Throws: `ChaosFailure` with what it printed when it cannot be started or ends with another status than 0.
    @discardableResult
    static func run(_ words: [String], input: String = "", folder: URL? = nil) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", closingAll, "-"] + words
        if let folder { process.currentDirectoryURL = folder }
        let (given, printed) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput, process.standardError) = (given, printed, printed)
        do {
            try process.run()
        } catch {
            throw ChaosFailure("\(words[0]) cannot be started: \(error)")
        }
        given.fileHandleForWriting.write(Data(input.utf8))
        try? given.fileHandleForWriting.close()
        let text = String(decoding: printed.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw ChaosFailure("\(words.joined(separator: " ")) ended with \(process.terminationStatus): \(text)")
        }
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }
}
