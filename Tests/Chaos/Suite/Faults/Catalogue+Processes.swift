import CommandKit
import Glibc

extension FaultCatalogue {
    /// `kill -9`, and a start some time later.
    static func kill(_ service: ClusterService) -> Experiment {
        Experiment(name: "kill \(service.rawValue)", budget: .away(service)) { stage in
            var times: [FaultTimes] = []
            for _ in 0..<(stage.isLong ? 5 : 1) {
                let began = ContinuousClock.now
                try await stage.cluster.end(service, SIGKILL)
                try await stage.pause(.milliseconds(600))
                try stage.cluster.launch(service)
                times.append(FaultTimes(began: began, ended: try await stage.cluster.waitUntilListening(service)))
                try await stage.pause(.seconds(2))
            }
            return Injection(times: times)
        }
    }

    /// `SIGSTOP` for a while, then `SIGCONT`.
    static func stall(_ service: ClusterService) -> Experiment {
        var budget = Budget.away(service)
        // A caller that waits for a stalled peer finds out by a ping, 5 s after the last word and 2 s for the answer.
        budget.longestFailure = .seconds(10)
        budget.mustHurt = false
        return Experiment(name: "stall \(service.rawValue)", budget: budget) { stage in
            let began = ContinuousClock.now
            stage.cluster.signal(service, SIGSTOP)
            // A caller of a program that stands still hears nothing until it goes on: the load itself calls these two, and waits for 11 s.
            let longest: Duration = [.gateway, .sandbox].contains(service) ? .seconds(8) : .seconds(15)
            try await stage.pause(stage.isLong ? longest : .seconds(3))
            stage.cluster.signal(service, SIGCONT)
            return Injection(times: [FaultTimes(began: began, ended: .now)])
        }
    }

    /// Stops services together and starts them in the given order, each when the one before is ready.
    static func restart(_ orders: [[ClusterService]], name: String) -> Experiment {
        let touched = Array(Set(orders.flatMap { $0 }))
        return Experiment(name: name, budget: .away(touched)) { stage in
            var times: [FaultTimes] = []
            for order in orders {
                let began = ContinuousClock.now
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for service in order { group.addTask { try await stage.cluster.end(service, SIGTERM) } }
                    try await group.waitForAll()
                }
                for service in order {
                    try stage.cluster.launch(service)
                    try await stage.cluster.waitUntilReady(service)
                }
                times.append(FaultTimes(began: began, ended: .now))
                try await stage.pause(.milliseconds(1100))
            }
            return Injection(times: times)
        }
    }
}
