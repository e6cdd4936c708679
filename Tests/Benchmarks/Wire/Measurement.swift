/// The load client's measurement of one run.
struct Measurement {
    var callsPerSecond: Double
    /// Microseconds.
    var p50: Double
    var p99: Double
    var answerBytes: Int

    /// - Parameter line: As the load client prints it; what follows the first four numbers is not of use here.
    init?(_ line: String) {
        let parts = line.split(separator: " ")
        guard parts.count >= 4, let calls = Double(parts[0]), let p50 = Double(parts[1]), let p99 = Double(parts[2]), let bytes = Int(parts[3])
        else { return nil }
        callsPerSecond = calls
        self.p50 = p50
        self.p99 = p99
        answerBytes = bytes
    }

    /// The best of several runs: what else the machine does can only make a run worse.
    static func best(_ runs: [Measurement]) -> Measurement? {
        runs.max { $0.callsPerSecond < $1.callsPerSecond }
    }
}
