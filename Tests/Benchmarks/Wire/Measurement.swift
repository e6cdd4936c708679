/// What the load client measured in one run.
struct Measurement {
    var callsPerSecond: Double
    /// Microseconds.
    var p50: Double
    var p99: Double
    var answerBytes: Int

    /// - Parameter line: As the load client prints it.
    init?(_ line: String) {
        let parts = line.split(separator: " ")
        guard parts.count == 4, let calls = Double(parts[0]), let p50 = Double(parts[1]), let p99 = Double(parts[2]), let bytes = Int(parts[3])
        else { return nil }
        self.init(callsPerSecond: calls, p50: p50, p99: p99, answerBytes: bytes)
    }

    private init(callsPerSecond: Double, p50: Double, p99: Double, answerBytes: Int) {
        self.callsPerSecond = callsPerSecond
        self.p50 = p50
        self.p99 = p99
        self.answerBytes = answerBytes
    }

    /// The middle one of several runs, value by value.
    static func median(_ runs: [Measurement]) -> Measurement {
        func middle(_ value: (Measurement) -> Double) -> Double { runs.map(value).sorted()[runs.count / 2] }
        return Measurement(
            callsPerSecond: middle(\.callsPerSecond), p50: middle(\.p50), p99: middle(\.p99), answerBytes: runs.first?.answerBytes ?? 0)
    }
}
