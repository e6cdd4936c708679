import Foundation

/// The C program that sends prebuilt requests.
struct LoadProgram {
    let path: String
    let connections: Int
    let seconds: Double

    struct Result {
        var callsPerSecond: Double
        /// Microseconds.
        var p50: Double
        var p99: Double
        /// Answers with another status than the expected one.
        var unexpected: Int
        var calls: Int
        /// Microseconds of the load program's own CPU time per call.
        var ownCost: Double
    }

    func run(port: Int, status: Int, requests: URL) throws -> Result {
        let line = try ChildProgram.lastLine(path, ["load", "\(port)", "\(connections)", "\(seconds)", "\(status)", requests.path])
        let numbers = line.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard numbers.count == 6 else { throw BenchmarkFailure("the load program printed '\(line)'") }
        return Result(
            callsPerSecond: numbers[0], p50: numbers[1], p99: numbers[2], unexpected: Int(numbers[3]), calls: Int(numbers[4]), ownCost: numbers[5])
    }

    struct Pace {
        /// Microseconds, from when a call was due.
        var p50: Double
        var p99: Double
        /// Calls that did not end with the expected status.
        var unexpected: Int
        var calls: Int
        /// By how many microseconds calls were begun late, at the 99th percentile.
        var lateness: Double
    }

    /// Calls at a rate whatever becomes of them, and for a second more that is not timed.
    /// - Parameter rate: Calls per second.
    func pace(port: Int, rate: Int, status: Int, requests: URL) throws -> Pace {
        let line = try ChildProgram.lastLine(path, ["pace", "\(port)", "\(connections)", "\(seconds)", "\(rate)", "\(status)", requests.path])
        let numbers = line.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard numbers.count == 5 else { throw BenchmarkFailure("the load program printed '\(line)'") }
        return Pace(p50: numbers[0], p99: numbers[1], unexpected: Int(numbers[2]), calls: Int(numbers[3]), lateness: numbers[4])
    }

    /// The rate that the load reaches with a server in C that answers without looking.
    func ceiling(requests: URL) throws -> Result {
        let server = try ChildProgram(path, ["serve", "5"])
        defer { server.stop() }
        guard let port = Int(server.line()) else { throw BenchmarkFailure("the least server did not start") }
        return try run(port: port, status: 200, requests: requests)
    }
}
