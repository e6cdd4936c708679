import CommandKit
import FaultProxy

/// Faults of the wire between the services, by the proxies on all ways.
extension FaultCatalogue {
    /// All connections ended, again and again, by a reset or in order.
    static func cut() -> Experiment {
        // A change that was under way may have been carried out, so that it is not made again: its caller is told to.
        var experiment = Experiment(name: "cut connections", budget: .anywhere(total: 0.08)) { stage in
            let began = ContinuousClock.now
            let rounds = stage.isLong ? 100 : 10
            for round in 0..<rounds {
                for proxy in stage.cluster.proxies.values { proxy.cut(abruptly: round.isMultiple(of: 2)) }
                try await stage.pause(.milliseconds(400))
            }
            let connections = stage.cluster.proxies.values.map(\.counts.connections).reduce(0, +)
            return Injection(
                times: [FaultTimes(began: began, ended: .now)], remark: "\(rounds) cuts of all connections; \(connections) were made so far")
        }
        experiment.watchesMemory = true
        return experiment
    }

    /// Slow wires: nothing may fail.
    static func delay() -> Experiment {
        var budget = Budget()
        budget.mustHurt = false
        return Experiment(name: "delay", budget: budget) { stage in
            try await wire(stage, WireRules(delay: .milliseconds(30), jitter: .milliseconds(20)), for: .seconds(stage.isLong ? 30 : 4))
        }
    }

    static func throttle() -> Experiment {
        var budget = Budget()
        budget.mustHurt = false
        return Experiment(name: "throttle", budget: budget) { stage in
            try await wire(stage, WireRules(bytesPerSecond: 128 * 1024), for: .seconds(stage.isLong ? 30 : 4))
        }
    }

    /// Bits turned on the way: TLS must find each one, and the connection ends; nobody may see a wrong answer.
    static func corrupt() -> Experiment {
        var experiment = Experiment(name: "corrupt", budget: .anywhere(total: 0.3)) { stage in
            let before = stage.cluster.proxies.values.map(\.counts.corrupted).reduce(0, +)
            var injection = try await wire(stage, WireRules(corruptsOneIn: 20_000), for: .seconds(stage.isLong ? 60 : 5))
            let corrupted = stage.cluster.proxies.values.map(\.counts.corrupted).reduce(0, +) - before
            injection.remark = "\(corrupted) bytes corrupted"
            if corrupted < 5 { injection.problems.append("only \(corrupted) bytes were corrupted, too few to judge by") }
            return injection
        }
        experiment.watchesMemory = true
        return experiment
    }

    /// All open connections become half open: nothing passes, nobody is told.
    static func halfOpen() -> Experiment {
        // A caller pings after 5 s of silence and waits 2 s. Until then it cannot know, and then the calls that may not be made again fail.
        Experiment(name: "half-open connections", budget: .anywhere(total: 1, longest: .milliseconds(8500), mustHurt: true)) { stage in
            let began = ContinuousClock.now
            for proxy in stage.cluster.proxies.values { proxy.muteOpenConnections() }
            try await stage.pause(.milliseconds(7500))
            return Injection(times: [FaultTimes(began: began, ended: .now)])
        }
    }

    /// A part of the network is away: connections to one service from all others are cut and refused.
    static func partition(_ service: ClusterService) -> Experiment {
        Experiment(name: "partition \(service.rawValue)", budget: .away(service)) { stage in
            let proxies = stage.cluster.proxies.filter { $0.key.callee == service }.map(\.value)
            let began = ContinuousClock.now
            for proxy in proxies {
                proxy.rules = WireRules(refusesConnections: true)
                proxy.cut(abruptly: true)
            }
            try await stage.pause(.seconds(2))
            for proxy in proxies { proxy.rules = .none }
            return Injection(times: [FaultTimes(began: began, ended: .now)])
        }
    }

    private static func wire(_ stage: Stage, _ rules: WireRules, for time: Duration) async throws -> Injection {
        let began = ContinuousClock.now
        for proxy in stage.cluster.proxies.values { proxy.rules = rules }
        defer { for proxy in stage.cluster.proxies.values { proxy.rules = .none } }
        try await stage.pause(time)
        return Injection(times: [FaultTimes(began: began, ended: .now)])
    }
}
