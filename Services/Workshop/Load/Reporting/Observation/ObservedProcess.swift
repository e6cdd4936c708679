/// A process to look at while the load runs.
public struct ObservedProcess: Sendable, Equatable {
    public let name: String
    public let pid: Int32
    public let role: Observation.Process.Role

    public init(name: String, pid: Int32, role: Observation.Process.Role) {
        (self.name, self.pid, self.role) = (name, pid, role)
    }
}

/// Follows one process from sample to sample.
struct ProcessTrack: Sendable {
    let process: ObservedProcess
    private(set) var cores: [Double?] = []
    private(set) var residentBytes: [Double?] = []
    private var last: (time: Double, reading: ProcessReading)?
    private var start: UInt64?
    /// True when it could be read before, but no longer can.
    private(set) var hasEnded = false
    var wasSeen: Bool { start != nil }

    init(_ process: ObservedProcess) { self.process = process }

    /// - Parameters:
    ///   - reading: `nil` when it cannot be read.
    ///   - time: Seconds.
    mutating func add(_ reading: ProcessReading?, at time: Double) {
        // The same id with another start is another process.
        guard let reading, start == nil || start == reading.startTicks else {
            if wasSeen { hasEnded = true }
            last = nil
            cores.append(nil)
            residentBytes.append(nil)
            return
        }
        start = reading.startTicks
        if let last, time > last.time {
            cores.append(max(0, reading.cpuSeconds - last.reading.cpuSeconds) / (time - last.time))
        } else {
            cores.append(nil)
        }
        residentBytes.append(Double(reading.residentBytes))
        last = (time, reading)
    }
}
