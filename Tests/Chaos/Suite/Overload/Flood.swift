import Foundation

/// Puts the load of an overload on the gateway: a program in C, as one processor must ask for twice of what another can answer.
struct Flood: Sendable {
    /// `http-load` of Tests/Benchmarks/CHttp.
    let program: URL
    let port: Int
    /// Whole requests, behind their lengths.
    let requests: URL

    /// The result of one run. Latencies are in milliseconds, from the moment at which a call was due.
    struct Result: Sendable {
        /// Answers with 200 per second.
        var rate: Double
        var acceptedP50: Double
        var acceptedP99: Double
        /// Answers with 503 and `Retry-After`.
        var refused: Int
        var refusedP50: Double
        var refusedP99: Double
        var longestRefusal: Double
        /// Other answers, and connections that broke.
        var others: Int
        var unanswered: Int
        /// By how much calls were begun late, at the 99th percentile.
        var lateness: Double
        /// The load's own share of one processor.
        var busy: Double
        /// The first answer that was neither good nor a refusal.
        var remark: String

        func acceptedShare(seconds: Int) -> Double {
            let accepted = rate * Double(seconds)
            return accepted / max(1, accepted + Double(refused))
        }
    }

    /// - Parameters:
    ///   - texts: Requests without a body.
    ///   - file: Is written.
    init(program: URL, port: Int, texts: [[UInt8]], file: URL) throws {
        var bytes = Data()
        for text in texts {
            withUnsafeBytes(of: UInt32(text.count).bigEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: text)
        }
        try bytes.write(to: file)
        (self.program, self.port, requests) = (program, port, file)
    }

    /// - Parameters:
    ///   - rate: Calls per second, due at random instants; 0: each connection calls again as soon as it has its answer.
    ///   - seconds: Measured, after one that is not.
    func run(connections: Int, rate: Double, seconds: Int) throws -> Result {
        let process = Process()
        let (output, complaints) = (Pipe(), Pipe())
        process.executableURL = program
        process.arguments = ["flood", "\(port)", "\(connections)", "\(seconds)", String(format: "%.1f", rate), requests.path]
        process.standardOutput = output
        process.standardError = complaints
        try process.run()
        // A line or two each: no pipe fills up.
        process.waitUntilExit()
        let line = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let remark = String(decoding: complaints.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let figures = line.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard process.terminationStatus == 0, figures.count == 11 else { throw ChaosFailure("\(program.path) failed: \(remark)") }
        return Result(
            rate: figures[0], acceptedP50: figures[1] / 1000, acceptedP99: figures[2] / 1000, refused: Int(figures[3]), refusedP50: figures[4] / 1000,
            refusedP99: figures[5] / 1000, longestRefusal: figures[6] / 1000, others: Int(figures[7]), unanswered: Int(figures[8]),
            lateness: figures[9] / 1000, busy: figures[10], remark: remark.trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
