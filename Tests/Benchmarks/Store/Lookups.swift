import AuthenticationAdministration
import AuthenticationCore
import Foundation

/// Microseconds of many operations, and what they cost.
struct Times: Encodable {
    var rate: Double
    var p50: Double
    var p99: Double
    var p999: Double
    /// Microseconds of CPU of the whole process per operation.
    var cpu: Double

    /// - Parameters:
    ///   - workers: Operations at once.
    ///   - operation: Given a number below `bound`, another one each time.
    static func measure(
        seconds: Double, workers: Int, bound: Int, _ operation: @escaping @Sendable (Int) async throws -> Void
    ) async throws -> Times {
        let (start, cpu) = (ContinuousClock.now, cpuMicroseconds())
        let end = start + .seconds(seconds)
        let times = try await withThrowingTaskGroup(of: [Double].self) { group in
            for _ in 0..<workers {
                group.addTask {
                    var (times, now): ([Double], ContinuousClock.Instant) = ([], .now)
                    while now < end {
                        try await operation(Int.random(in: 1...bound))
                        let next = ContinuousClock.now
                        times.append((next - now) / .microseconds(1))
                        now = next
                    }
                    return times
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let took = (ContinuousClock.now - start) / .seconds(1)
        let sorted = times.sorted()
        func percentile(_ share: Double) -> Double { sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))] }
        return Times(
            rate: Double(sorted.count) / took, p50: percentile(0.5), p99: percentile(0.99), p999: percentile(0.999),
            cpu: (cpuMicroseconds() - cpu) / Double(sorted.count))
    }

    private static func cpuMicroseconds() -> Double {
        var used = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used)
        return Double(used.tv_sec) * 1e6 + Double(used.tv_nsec) / 1e3
    }
}

extension FilledStore {
    /// All sessions of devices of which each is as likely as any other.
    func lookups(_ probe: SessionProbe, seconds: Double, workers: Int) async throws -> Times {
        try await Times.measure(seconds: seconds, workers: workers, bound: sessions / perDevice) { number in
            let found = try await probe.count(device: Population.device(number), requestor: Population.requestor)
            guard found == perDevice else {
                throw BenchmarkFailure("device \(number) has \(found) sessions, not \(perDevice)")
            }
        }
    }

    /// Sessions of new devices, each durable when its start returns.
    func starts(seconds: Double, workers: Int) async throws -> Times {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        return try await Times.measure(seconds: seconds, workers: workers, bound: 1 << 40) { number in
            try await service.start(device: UUID().uuidString, requestor: Population.requestor, number: number, now: now)
        }
    }
}
