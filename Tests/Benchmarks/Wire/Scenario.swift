import Contracts

/// One method under one load.
struct Scenario {
    struct Load {
        var connections: Int
        var inFlight: Int

        var description: String { "\(connections)×\(inFlight)" }
    }

    var service: String
    var method: String
    var payloadBytes: Int
    var load: Load
    /// Least ratio to the C server, where one is demanded.
    var goal: Double?

    static let all: [Scenario] = loads.flatMap { load, isGoal in
        [
            Scenario(
                service: DiagnosticsMethods.service, method: DiagnosticsMethods.echo.name, payloadBytes: 32, load: load, goal: isGoal ? 0.85 : nil),
            Scenario(
                service: ConfigMethods.service, method: ConfigMethods.getConfiguration.name, payloadBytes: 0, load: load, goal: isGoal ? 0.6 : nil),
        ]
    }

    private static let loads: [(Load, Bool)] = [
        (Load(connections: 1, inFlight: 1), false), (Load(connections: 8, inFlight: 8), false), (Load(connections: 1, inFlight: 64), true),
    ]
}
