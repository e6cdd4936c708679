/// The results of one scenario's runs. Each round holds one run of everything that is compared, one after the other. So other work of the machine
/// falls on all of them alike.
struct Comparison {
    struct Round {
        var hello: LoadProgram.Result
        var target: LoadProgram.Result
        /// Bare signatures a second, where the scenario signs.
        var signatures: Double?
        /// Microseconds of CPU per call of the target, by process.
        var cost: [String: Double]
        /// Share of the machine that other programs had while the target ran, 0 to 1.
        var otherShare: Double
    }

    let scenario: Scenario
    private(set) var rounds: [Round] = []

    init(_ scenario: Scenario) { self.scenario = scenario }

    mutating func add(_ round: Round) { rounds.append(round) }

    /// Rate over that of the hello, by round.
    var helloRatio: Spread { Spread(rounds.map { $0.target.callsPerSecond / $0.hello.callsPerSecond }) }
    /// Rate over that of bare signatures on all cores, by round.
    var signatureRatio: Spread { Spread(rounds.compactMap { round in round.signatures.map { round.target.callsPerSecond / $0 } }) }

    var unexpected: Int { rounds.map(\.target.unexpected).reduce(0, +) }

    /// The ratio that the goal is about.
    var goalRatio: Spread {
        switch scenario.measure {
        case .hello: helloRatio
        case .signatures: signatureRatio
        }
    }

    /// An answer that is no success counts as a failure of the whole scenario.
    var isMet: Bool { unexpected == 0 && goalRatio.median >= scenario.goal }

    func median(_ value: (Round) -> Double) -> Double { Spread(rounds.map(value)).median }

    /// Processes in the order of their cost, with the median of it.
    var costs: [(process: String, microseconds: Double)] {
        let names = Set(rounds.flatMap(\.cost.keys))
        return names.map { name in (name, median { $0.cost[name] ?? 0 }) }.filter { $0.1 >= 0.5 }.sorted { $0.1 > $1.1 }
    }
}
