import CommandKit
import Foundation
import Glibc

/// Faults of the machine that one service runs on: its disk, its clock.
extension FaultCatalogue {
    /// The work of a service that needs no room on its disk goes on while it is full.
    private static let writing: [ClusterService: Set<Operation>] = [
        .config: [.draft, .push], .authentication: [.register, .code, .codeDelete, .signIn, .preview, .logout, .redeem, .optIn],
        .authorization: [.authorize], .autosignin: [.optIn, .optInStored, .redeem, .optOut],
    ]

    /// The stories for which a service writes.
    private static let stories: [ClusterService: Story] = [
        .config: .push, .authentication: .requestCode, .authorization: .authorize, .autosignin: .optIn,
    ]

    static func diskFull(_ service: ClusterService) -> Experiment {
        let operations = writing[service] ?? []
        let budget = Budget(shares: Dictionary(uniqueKeysWithValues: operations.map { ($0, 1) }))
        var experiment = Experiment(name: "disk full \(service.rawValue)", budget: budget) { stage in
            let disk = SmallDisk(folder: folder(of: service, stage))
            try disk.fill()
            let began = ContinuousClock.now
            try await withThrowingDiscardingTaskGroup { group in
                for _ in 0..<(stage.isLong ? 100 : 20) {
                    if let story = stories[service] { group.addTask { await stage.teller.play(story) } }
                    try await stage.pause(.milliseconds(100))
                    // A page that the service gave back is taken, too.
                    try disk.fill()
                }
            }
            disk.empty()
            return Injection(times: [FaultTimes(began: began - .milliseconds(100), ended: .now)])
        }
        experiment.obstacle = SmallDisk.obstacle
        experiment.prepare = { stage in
            try await stage.cluster.end(service, SIGTERM)
            _ = try SmallDisk.mount(over: folder(of: service, stage), mebibytes: 32)
            try await startAgain(service, stage)
        }
        experiment.restore = { stage in
            try await stage.cluster.end(service, SIGTERM)
            try await SmallDisk(folder: folder(of: service, stage)).unmount()
            try await startAgain(service, stage)
        }
        return experiment
    }

    private static func folder(of service: ClusterService, _ stage: Stage) -> URL { stage.cluster.home.data.appendingPathComponent(service.rawValue) }

    private static func startAgain(_ service: ClusterService, _ stage: Stage) async throws {
        try stage.cluster.launch(service)
        try await stage.cluster.waitUntilReady(service)
        try await stage.pause(.milliseconds(1100))
    }

    /// The clock of one service goes wrong while it runs, and is set right again.
    /// - Parameter seconds: Ahead, then behind.
    static func clock(_ service: ClusterService, seconds: Int, budget: Budget) -> Experiment {
        var experiment = Experiment(name: "clock \(service.rawValue) \(seconds) s", budget: budget) { stage in
            let clock = SkewedClock(file: stage.cluster.home.root.appendingPathComponent("clock-\(service.rawValue)"))
            let began = ContinuousClock.now
            try clock.set(seconds)
            try await stage.pause(.seconds(stage.isLong ? 20 : 2))
            try clock.set(-seconds)
            try await stage.pause(.seconds(stage.isLong ? 20 : 2))
            try clock.set(0)
            return Injection(times: [FaultTimes(began: began, ended: .now)])
        }
        experiment.obstacle = SkewedClock.obstacle
        experiment.prepare = { stage in
            let clock = SkewedClock(file: stage.cluster.home.root.appendingPathComponent("clock-\(service.rawValue)"))
            try clock.set(0)
            stage.cluster.setCondition(clock.condition, of: service)
            try await stage.cluster.end(service, SIGTERM)
            try await startAgain(service, stage)
        }
        experiment.restore = { stage in
            stage.cluster.setCondition(.plain, of: service)
            try await stage.cluster.end(service, SIGTERM)
            try await startAgain(service, stage)
        }
        return experiment
    }
}
