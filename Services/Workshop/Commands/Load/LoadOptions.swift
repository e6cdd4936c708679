internal import ArgumentParser

/// How much load, for how long.
struct LoadOptions: ParsableArguments {
    @Option(help: "Iterations per second, no matter how slow the service is: 500, 2.5k, 600/m.")
    var rate: String?

    @Option(help: "Users instead of a rate: each calls again when its last call has ended.")
    var concurrency: Int?

    @Option(help: "FROM..TO: step by step from one rate to another, to find the knee; with --closed from one number of users to another.")
    var ramp: String?

    @Option(help: "Steps of a ramp, at least 2.")
    var steps = 10

    @Option(help: "How long each step of a ramp lasts.")
    var stepDuration = "5s"

    @Option(help: "DURATION:RATE,...: from rate to rate in even slopes, for example 30s:1000,2m:1000,10s:5000; the first one is constant.")
    var stages: String?

    @Flag(help: "A ramp of users instead of rates.")
    var closed = false

    @Flag(help: "Continue a ramp after its knee.")
    var rampOn = false

    @Option(help: "When a step of a ramp is bad: p99<TIME, errors<SHARE or throughput>SHARE; may be repeated.")
    var knee: [String] = []

    @Option(help: "Arrivals of --rate: constant or poisson.")
    var arrivals = "constant"

    @Option(name: .shortAndLong, help: "How long to measure: 30s, 5m.")
    var duration = "10s"

    @Option(help: "How long to load before the measurement.")
    var warmUp = "2s"

    @Option(help: "End after this many iterations, unless the duration ends first.")
    var calls: Int?

    @Option(name: .shortAndLong, help: "Connections. (default: 4; 64 to the gateway)")
    var connections: Int?

    @Option(help: "Threads of the tool. (default: half of the cores)")
    var workers: Int?

    @Option(help: "The most iterations under way at once; further ones are counted as not started.")
    var maxInFlight = 10_000

    @Option(help: "How long one call may take.")
    var timeout = "10s"

    @Option(help: "Seed of all random choices: the same seed gives the same run.")
    var seed: UInt64 = 1

    @Option(help: "End the run when more than this share of one second's calls failed: 50%.")
    var stopOnErrors: String?
}
