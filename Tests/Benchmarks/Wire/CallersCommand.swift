import ArgumentParser
import ContractRuntime
import Contracts
import EventLoops
import Foundation
import Logging
import NIOCore
import NIOPosix
import Rpc
import Transport

/// Calls copies of the built-in server with the client that services have, and says what a call costs the caller.
struct CallersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "callers", abstract: "Measures a caller: the CPU of each call to one or more copies; with --against, beside another build.")

    @Option(help: "Copies of the server.")
    var copies = 2

    @Option(help: "Calls in flight.")
    var inFlight = 64

    @Option(help: "Seconds of each run.")
    var seconds = 0.6

    @Option(help: "Another build of this program: both run in turns, and the ratios of this one to that one are printed.")
    var against: String?

    @Option(help: "Pairs of runs, with --against.")
    var pairs = 31

    func run() async throws {
        guard let against else { return print(try await measure()) }
        var ratios: (cpu: [Double], p99: [Double]) = ([], [])
        for pair in -1..<pairs {
            let programs = pair.isMultiple(of: 2) ? [against, CommandLine.arguments[0]] : [CommandLine.arguments[0], against]
            var found: [String: CallerCost] = [:]
            for program in programs {
                found[program] = try CallerCost(
                    ChildProgram(program, ["callers", "--copies", "\(copies)", "--in-flight", "\(inFlight)", "--seconds", "\(seconds)"]).line())
            }
            guard pair >= 0, let old = found[against], let new = found[CommandLine.arguments[0]] else { continue }
            ratios.cpu.append(new.cpuMicroseconds / old.cpuMicroseconds)
            ratios.p99.append(new.p99 / old.p99)
        }
        print("\(copies) copies, \(inFlight) in flight: CPU per call \(Self.spread(ratios.cpu)), p99 \(Self.spread(ratios.p99))")
    }

    private static func spread(_ ratios: [Double]) -> String {
        let sorted = ratios.sorted()
        let (low, middle, high) = (sorted[sorted.count / 4], sorted[sorted.count / 2], sorted[sorted.count - 1 - sorted.count / 4])
        return String(format: "%.3f (quartiles %.3f to %.3f)", middle, low, high)
    }

    private func measure() async throws -> CallerCost {
        let identities = try BenchmarkIdentities.create()
        defer { identities.remove() }
        let servers = try (0..<copies).map { _ in try ChildProgram(CommandLine.arguments[0], ["serve", "--identities", identities.folder]) }
        defer { for server in servers { server.stop() } }
        let addresses = try servers.map { RpcAddress(host: "127.0.0.1", port: Int(try $0.line()) ?? 0) }
        let loops = Array(MultiThreadedEventLoopGroup.singleton.makeIterator())
        var configuration = RpcClient.Configuration(
            addresses: addresses, peerName: BenchmarkIdentities.server,
            identity: try TlsIdentity(files: identities.files(BenchmarkIdentities.client)), software: "wire-benchmark")
        configuration.connectionsPerAddress = min(8, loops.count)
        configuration.followsHealth = true
        let client = RpcClient(
            configuration: configuration, group: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "wire-benchmark") { _ in SwiftLogNoOpLogHandler() })
        while client.readyConnections < copies * configuration.connectionsPerAddress { try await Task.sleep(for: .milliseconds(1)) }
        _ = try await Self.call(client, loops, inFlight, seconds: seconds / 5)
        let before = Self.cpuMicroseconds()
        let times = try await Self.call(client, loops, inFlight, seconds: seconds).sorted()
        let cpu = Self.cpuMicroseconds() - before
        return CallerCost(
            callsPerSecond: Double(times.count) / seconds, cpuMicroseconds: cpu / Double(times.count), p99: times[times.count * 99 / 100])
    }

    /// - Returns: Microseconds of each call.
    private static func call(
        _ client: RpcClient, _ loops: [any EventLoop], _ inFlight: Int, seconds: Double
    ) async throws -> [Double] {
        let end = ContinuousClock.now.advanced(by: .seconds(seconds))
        return try await withThrowingTaskGroup(of: [Double].self) { group in
            for number in 0..<inFlight {
                // As handlers of services and of the gateway run.
                group.addTask(executorPreference: EventLoopExecutor(loops[number % loops.count])) {
                    var times: [Double] = []
                    let diagnostics = DiagnosticsClient(caller: client)
                    let message = EchoMessage(content: [UInt8](repeating: 7, count: 32))
                    var start = ContinuousClock.now
                    while start < end {
                        _ = try await diagnostics.echo(message, context: CallContext())
                        let now = ContinuousClock.now
                        times.append(start.duration(to: now) / .microseconds(1))
                        start = now
                    }
                    return times
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    private static func cpuMicroseconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }
}

/// The cost of calls for their caller.
struct CallerCost: CustomStringConvertible {
    let callsPerSecond: Double
    /// The CPU time of the caller's process, for each call.
    let cpuMicroseconds: Double
    /// Microseconds.
    let p99: Double

    init(callsPerSecond: Double, cpuMicroseconds: Double, p99: Double) {
        (self.callsPerSecond, self.cpuMicroseconds, self.p99) = (callsPerSecond, cpuMicroseconds, p99)
    }

    /// - Parameter line: As it describes itself.
    init(_ line: String) throws {
        let numbers = line.split(separator: " ").compactMap { Double($0) }
        guard numbers.count == 3 else { throw ValidationError("The other program printed '\(line)'.") }
        self.init(callsPerSecond: numbers[0], cpuMicroseconds: numbers[1], p99: numbers[2])
    }

    var description: String { String(format: "%.0f %.3f %.1f", callsPerSecond, cpuMicroseconds, p99) }
}
