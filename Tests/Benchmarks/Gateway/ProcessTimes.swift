import Foundation

/// CPU time that processes have used.
struct ProcessTimes {
    /// Seconds by name.
    private let used: [String: Double]
    /// Seconds of all cores that were not idle, those of other programs included.
    private let machine: Double
    private let taken = ContinuousClock.now

    private static let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))

    init(_ processes: [String: Int32]) {
        used = processes.compactMapValues(Self.seconds)
        machine = Self.busySeconds()
    }

    /// Seconds that each process used since.
    func spent(since earlier: ProcessTimes) -> [String: Double] {
        used.reduce(into: [:]) { result, entry in result[entry.key] = entry.value - (earlier.used[entry.key] ?? 0) }
    }

    /// The share of the machine's time that programs not of this benchmark used since, 0 to 1.
    /// - Parameter own: Seconds that the benchmark's programs used in that time.
    func otherShare(since earlier: ProcessTimes, own: Double, cores: Int) -> Double {
        let wall = earlier.taken.duration(to: taken) / .seconds(1)
        return max(0, (machine - earlier.machine - own) / (wall * Double(cores)))
    }

    /// To the nanosecond: `stat` has hundredths of a second, and a process at a tenth of what it can do uses few of them.
    private static func seconds(_ process: Int32) -> Double? {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else { return nil }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The line `cpu` of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal.
    private static func busySeconds() -> Double {
        guard let stat = try? String(contentsOfFile: "/proc/stat", encoding: .utf8) else { return 0 }
        let fields = stat.prefix { $0 != "\n" }.split(separator: " ").dropFirst().compactMap { Double($0) }
        guard fields.count >= 8 else { return 0 }
        return (fields[0] + fields[1] + fields[2] + fields[5] + fields[6] + fields[7]) / ticksPerSecond
    }
}
