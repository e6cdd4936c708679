import ArgumentParser
import Foundation
import OutboundHttp
import Synchronization

/// The services' client for calls to other organisations, alone: what a call upstream costs without the bridge around it.
struct OutboundCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbound", abstract: "Send the requests of a file by the HTTP client of the services, and print its CPU per call.",
        discussion: "Prints: microseconds of CPU per call, the median of a call in microseconds, calls, answers whose status was not 200.")

    @Argument(help: "Port on this machine.")
    var port: Int

    @Argument(help: "Calls a second.")
    var rate: Int

    @Argument(help: "Seconds, after one that does not count.")
    var seconds: Double

    @Argument(help: "Requests as `http-load` reads them.")
    var requests: String

    func run() async throws {
        let requests = try Self.read(URL(fileURLWithPath: requests), port: port)
        guard !requests.isEmpty, rate > 0, seconds > 0 else { throw BenchmarkFailure("there is nothing to send") }
        let http = OutboundHttp()
        let pacer = OutboundPacer(http: http, requests: requests, rate: rate)
        _ = await pacer.run(seconds: 1)
        let run = await pacer.run(seconds: seconds)
        await http.shutdown()
        print(String(format: "%.3f %.3f %d %d", run.microseconds, run.median, run.calls, run.unexpected))
    }

    /// Without what the client writes by itself.
    private static func read(_ file: URL, port: Int) throws -> [OutboundRequest] {
        var bytes = Array(try Data(contentsOf: file))[...]
        var requests: [OutboundRequest] = []
        while bytes.count >= 4 {
            let length = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            let text = String(decoding: bytes.dropFirst(4).prefix(length), as: UTF8.self)
            bytes = bytes.dropFirst(4 + length)
            guard let end = text.firstRange(of: "\r\n\r\n") else { throw BenchmarkFailure("a request has no end of its head") }
            let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
            let words = lines[0].split(separator: " ")
            guard words.count == 3, let method = OutboundRequest.Method(rawValue: String(words[0])) else {
                throw BenchmarkFailure("'\(lines[0])' is no request")
            }
            let headers = lines.dropFirst().compactMap { line -> OutboundRequest.Header? in
                guard let colon = line.firstRange(of: ": ") else { return nil }
                let name = String(line[..<colon.lowerBound])
                return ["host", "content-length"].contains(name.lowercased()) ? nil : (name, String(line[colon.upperBound...]))
            }
            let body = Array(text[end.upperBound...].utf8)
            requests.append(
                OutboundRequest(method, "http://127.0.0.1:\(port)\(words[1])", headers: headers, body: body.isEmpty ? nil : body))
        }
        return requests
    }
}

/// Sends requests at random instants, whatever becomes of those before.
private struct OutboundPacer: Sendable {
    private static let route = OutboundRoute(
        peer: "upstream", connectTimeout: .seconds(1), responseTimeout: .seconds(8), connections: 64)

    let http: OutboundHttp
    let requests: [OutboundRequest]
    let rate: Int

    struct Run: Sendable {
        /// Of CPU per call, without the thread that keeps the time.
        let microseconds: Double
        /// Microseconds from the call to its answer.
        let median: Double
        let calls: Int
        let unexpected: Int
    }

    func run(seconds: Double) async -> Run {
        let count = max(1, Int(seconds * Double(rate)))
        let before = Self.seconds(CLOCK_PROCESS_CPUTIME_ID)
        let (own, times, unexpected) = await withTaskGroup(of: (isFailure: Bool, time: Double).self, returning: (Double, [Double], Int).self) {
            group in
            let (instants, feed) = AsyncStream.makeStream(of: Int.self)
            let keeper = Mutex(0.0)
            let thread = Thread { [rate] in
                let begun = Self.seconds(CLOCK_THREAD_CPUTIME_ID)
                var due = Self.seconds(CLOCK_MONOTONIC)
                var random = SystemRandomNumberGenerator()
                for number in 0..<count {
                    due += -log(1 - Double.random(in: 0..<1, using: &random)) / Double(rate)
                    var instant = timespec(tv_sec: Int(due), tv_nsec: Int((due - due.rounded(.down)) * 1e9))
                    clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &instant, nil)
                    feed.yield(number)
                }
                let spent = Self.seconds(CLOCK_THREAD_CPUTIME_ID) - begun
                keeper.withLock { $0 = spent }
                feed.finish()
            }
            thread.start()
            for await number in instants {
                var request = requests[number % requests.count]
                // Each from an address of its own, as the load has it.
                request.set(("X-Forwarded-For", "150.\(100 + number / 62_500 % 100).\(number / 250 % 250).\(1 + number % 250)"))
                group.addTask { [http, request] in
                    let begun = Self.seconds(CLOCK_MONOTONIC)
                    let isFailure = (try? await http.send(request, by: Self.route, timeLeft: .seconds(9)))?.status != 200
                    return (isFailure, Self.seconds(CLOCK_MONOTONIC) - begun)
                }
            }
            var (failures, times) = (0, [Double]())
            for await (isFailure, time) in group {
                times.append(time)
                if isFailure { failures += 1 }
            }
            return (keeper.withLock { $0 }, times, failures)
        }
        let spent = Self.seconds(CLOCK_PROCESS_CPUTIME_ID) - before - own
        return Run(microseconds: spent * 1e6 / Double(count), median: Spread(times).median * 1e6, calls: count, unexpected: unexpected)
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Runs `outbound` in a process of its own.
enum OutboundRun {
    /// - Returns: Microseconds of CPU per call, and of the median call from its beginning to its answer.
    static func measure(port: Int, rate: Int, seconds: Double, requests: URL) throws -> (cost: Double, median: Double) {
        let line = try ChildProgram.lastLine(
            CommandLine.arguments[0], ["outbound", "\(port)", "\(rate)", "\(seconds)", requests.path],
            // As every service has it (Shared/Documents/Decisions/0024-enlarge-allocator-caches.md).
            environment: ["GLIBC_TUNABLES": "glibc.malloc.tcache_count=256"])
        let numbers = line.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard numbers.count == 4 else { throw BenchmarkFailure("the HTTP client printed '\(line)'") }
        guard numbers[3] * 50 <= numbers[2] else {
            throw BenchmarkFailure("\(Int(numbers[3])) of \(Int(numbers[2])) calls of the HTTP client failed")
        }
        return (numbers[0], numbers[1])
    }
}
