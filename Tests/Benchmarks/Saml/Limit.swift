import ArgumentParser
import Foundation

/// The C program that we are held against. It lasts as long as the benchmark, so that it is measured as warm as we are.
final class Limit {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// - Parameter seconds: Per measurement.
    init(program: String, document: String, certificate: String, seconds: Double) throws {
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = [document, certificate, "\(seconds)"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// - Returns: Verifications per second of a tree that is parsed already, and with the parsing.
    func rates() throws -> (signature: Double, whole: Double) {
        try input.fileHandleForWriting.write(contentsOf: [UInt8(ascii: "\n")])
        var line: [UInt8] = []
        while line.last != UInt8(ascii: "\n") {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw ValidationError("\(process.executableURL?.path ?? "") has ended") }
            line += more
        }
        let rates = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard rates.count == 2 else { throw ValidationError("an answer that is none: \(String(decoding: line, as: UTF8.self))") }
        return (rates[0], rates[1])
    }

    func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
