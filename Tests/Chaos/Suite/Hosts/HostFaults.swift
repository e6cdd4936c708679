import CommandKit
import Foundation
import Glibc

/// Faults of hosts and of their database, in the order in which they are tried.
enum HostFaults {
    static var all: [HostFault] {
        HostsCluster.services.map(kill) + [
            replaceAll(), restartGateways(), darkHost(), restartedDatabase(), failover(), startDuringFailover(), formerPrimary(),
            partedFromDatabase(), partedHosts(), upgrade(),
        ]
    }

    /// The cost that a fault may have for calls under way, and for no others.
    private static func underWay(total: Double, longest: Duration = .seconds(1), breaks: Bool = false) -> Budget {
        var budget = Budget.anywhere(total: total, longest: longest)
        budget.shares[.config] = 1
        if breaks { budget.breaking = Set(Operation.allCases) }
        return budget
    }

    /// `kill -9` of one of two copies, and its start some time later.
    private static func kill(_ service: ClusterService) -> HostFault {
        // The balancer goes on sending to a gateway that is gone until it has asked again.
        let budget = service == .gateway ? underWay(total: 0.5, breaks: true) : underWay(total: 0.15)
        return HostFault(name: "kill host-a \(service.rawValue)", budget: budget) { stage in
            let place = HostsCluster.Place(host: stage.cluster.hosts[0], service: service)
            let began = ContinuousClock.now
            try await stage.cluster.end(place, SIGKILL)
            // Whole again at once, while the copy is still away.
            let ended = ContinuousClock.now
            try await stage.pause(.milliseconds(1500))
            try stage.cluster.launch(place)
            try await stage.cluster.waitUntilReady(place)
            return Injection(times: [FaultTimes(began: began, ended: ended)])
        }
    }

    /// Each program of each host stopped in order and started again, one after the other.
    private static func replaceAll() -> HostFault {
        HostFault(name: "restart all, one by one", budget: underWay(total: 0.02)) { stage in
            try await replace(stage)
        }
    }

    /// Gateways, behind a balancer that asks once a second and wants two failures: with the delay that the guide's settings have, no call fails.
    private static func restartGateways() -> HostFault {
        HostFault(name: "restart gateways, twenty times", budget: underWay(total: 0)) { stage in
            let places = stage.cluster.hosts.map { HostsCluster.Place(host: $0, service: .gateway) }
            stage.cluster.balancer.adopt(.slow)
            defer { stage.cluster.balancer.adopt(.quick) }
            let began = ContinuousClock.now
            for number in 0..<20 {
                try await restart(places[number % places.count], stage)
                // Until the balancer has asked it again.
                try await stage.pause(.milliseconds(2500))
            }
            return Injection(times: [FaultTimes(began: began, ended: .now)])
        } obstacle: {
            $0.isLong ? nil : "part of --long"
        }
    }

    private static func restart(_ place: HostsCluster.Place, _ stage: HostsStage) async throws {
        try await stage.cluster.end(place, SIGTERM)
        try stage.cluster.launch(place)
        try await stage.cluster.waitUntilReady(place)
    }

    /// The release before in place of this one, and this one again: nothing but calls under way may fail.
    private static func upgrade() -> HostFault {
        HostFault(name: "upgrade and back", budget: underWay(total: 0.02)) { stage in
            guard let former = stage.former else { throw ChaosFailure("no programs of the release before") }
            stage.cluster.use(binaries: former)
            var injection = try await replace(stage)
            stage.cluster.use(binaries: stage.binaries)
            injection.times += try await replace(stage).times
            return injection
        } obstacle: {
            $0.former == nil ? "--former must name the folder of the programs of the release before" : nil
        }
    }

    private static func replace(_ stage: HostsStage) async throws -> Injection {
        var times: [FaultTimes] = []
        for place in stage.cluster.places {
            let began = ContinuousClock.now
            try await stage.cluster.end(place, SIGTERM)
            try stage.cluster.launch(place)
            try await stage.cluster.waitUntilReady(place)
            times.append(FaultTimes(began: began, ended: .now))
        }
        return Injection(times: times)
    }

    /// A host whose cable is pulled.
    private static func darkHost() -> HostFault {
        // A peer that falls silent is found out by a ping, 5 s after its last word and 2 s for the answer.
        HostFault(name: "host-a dark", budget: underWay(total: 0.6, longest: .milliseconds(8500), breaks: true)) { stage in
            let host = stage.cluster.hosts[0]
            let began = ContinuousClock.now
            try stage.cluster.network.setLink(of: host, up: false)
            try await stage.pause(.seconds(9))
            let problems = try await wholeWhileGone(stage)
            try stage.cluster.network.setLink(of: host, up: true)
            for service in HostsCluster.services { try await stage.cluster.waitUntilReady(HostsCluster.Place(host: host, service: service)) }
            return Injection(times: [FaultTimes(began: began, ended: .now)], problems: problems)
        }
    }

    /// The rest must do all of the work by now.
    private static func wholeWhileGone(_ stage: HostsStage) async throws -> [String] {
        let moment = ContinuousClock.now
        try await stage.pause(.seconds(2))
        let missing = [Operation.code, .session].filter { !stage.bout.tally.hasSuccess(of: $0, after: moment) }
        return missing.isEmpty ? [] : ["not answered while a host was away: \(missing.map(\.rawValue).joined(separator: ", "))"]
    }

    /// How long a change may wait that was under way when its server was killed. A server process that syncs ends, and lets go of its connection,
    /// only when the disk is done. That takes a slow disk seconds; TCP gives a connection up after 5 s.
    private static let deadDatabase = Duration.seconds(6)

    /// A request that begins when the server is dead hears so within a second but for few: up to 1.6 s were measured on two cores. The bound leaves room for a slower
    /// machine.
    private static func deadServer() -> Budget {
        var budget = underWay(total: 1, longest: deadDatabase)
        budget.longestNewFailure = .seconds(3)
        return budget
    }

    /// The primary is killed and started again, on its own disk.
    private static func restartedDatabase() -> HostFault {
        HostFault(name: "kill database, same disk", budget: deadServer()) { stage in
            let server = stage.databases.primaryServer
            let began = ContinuousClock.now
            try stage.databases.kill(server)
            try await stage.pause(.milliseconds(600))
            try stage.databases.start(server)
            let accepts = ContinuousClock.now
            let wrote = try await stage.waitForWrite(after: accepts, within: .seconds(10))
            return Injection(
                times: [FaultTimes(began: began, ended: accepts + .seconds(1))],
                remark: "first change \(Reporter.text(wrote - accepts)) after it accepted connections",
                problems: wrote - accepts > .seconds(2) ? ["more than 2 s until the first change"] : [])
        }
    }

    /// The primary is gone for good, and a standby takes its place.
    private static func failover() -> HostFault {
        HostFault(name: "failover", budget: deadServer()) { stage in
            let former = stage.databases.primaryServer
            let began = ContinuousClock.now
            try stage.databases.kill(former)
            try await stage.pause(.milliseconds(500))
            try stage.databases.failOver()
            let promoted = ContinuousClock.now
            let wrote = try await stage.waitForWrite(after: promoted, within: .seconds(10))
            try await stage.databases.rejoin(former)
            return Injection(
                times: [FaultTimes(began: began, ended: promoted + .seconds(1))],
                remark: "first change \(Reporter.text(wrote - promoted)) after the promotion; now the primary: \(stage.databases.primaryServer.name)",
                problems: wrote - promoted > .seconds(2) ? ["more than 2 s until the first change"] : [])
        }
    }

    /// Copies that start while all servers are standbys wait for one that is promoted, and then go on by themselves.
    private static func startDuringFailover() -> HostFault {
        HostFault(name: "start during a failover", budget: deadServer()) { stage in
            let (former, host) = (stage.databases.primaryServer, stage.cluster.hosts[0])
            let places = HostsCluster.services.filter { $0 != .gateway }.map { HostsCluster.Place(host: host, service: $0) }
            let began = ContinuousClock.now
            try stage.databases.kill(former)
            for place in places {
                try await stage.cluster.end(place, SIGTERM)
                try stage.cluster.launch(place)
            }
            try await stage.pause(.seconds(60))
            var problems: [String] = []
            for place in places {
                let said = await stage.cluster.readiness(of: place)
                if said?.status != 503 || said?.text.hasPrefix("storage: waiting: ") != true {
                    problems.append("\(place.service.rawValue) says \(said.map { "\($0.status) \($0.text)" } ?? "nothing") while it waits")
                }
            }
            try stage.databases.failOver()
            let promoted = ContinuousClock.now
            // That it is the process which was started, and no other one, is part of this.
            for place in places { try await stage.cluster.waitUntilReady(place) }
            let ready = ContinuousClock.now
            if ready - promoted > .seconds(5) { problems.append("more than 5 s until all were ready") }
            _ = try await stage.waitForWrite(after: promoted, within: .seconds(10))
            try await stage.databases.rejoin(former)
            return Injection(
                times: [FaultTimes(began: began, ended: max(ready, promoted + .seconds(1)))],
                remark: "ready \(Reporter.text(ready - promoted)) after the promotion", problems: problems)
        } obstacle: {
            $0.isLong ? nil : "part of --long"
        }
    }

    /// The primary is cut off from its standbys and from one host, and goes on for the other one. When a standby takes its place, no copy may answer
    /// from the former primary's data.
    private static func formerPrimary() -> HostFault {
        HostFault(name: "former primary goes on", budget: underWay(total: 1, longest: .milliseconds(8500))) { stage in
            let (former, network) = (stage.databases.primaryServer, stage.cluster.network)
            let others = stage.databases.servers.map(\.host).filter { $0 != former.host } + [stage.cluster.hosts[1]]
            let began = ContinuousClock.now
            for other in others { try network.part(former.host, from: other) }
            // An operator who promotes a standby waits for longer than copies trust a primary that commits nothing.
            try await stage.pause(.seconds(4))
            try stage.databases.failOver()
            let promoted = ContinuousClock.now
            let wrote = try await stage.waitForWrite(after: promoted, within: .seconds(10))
            try await stage.pause(.seconds(3))
            let problems = try await wholeWhileGone(stage)
            try stage.databases.kill(former)
            for other in others { try network.join(former.host, with: other) }
            try await stage.databases.rejoin(former)
            return Injection(
                times: [FaultTimes(began: began, ended: promoted + .seconds(3))],
                remark: "first change \(Reporter.text(wrote - promoted)) after the promotion; now the primary: \(stage.databases.primaryServer.name)",
                problems: problems + (wrote - promoted > .seconds(2) ? ["more than 2 s until the first change"] : []))
        }
    }

    /// A host that reaches everything but the database: its copies must get no calls after 3 s. Changes under way wait until TCP gives
    /// their connection up, after 5 s.
    private static func partedFromDatabase() -> HostFault {
        HostFault(name: "host-a without database", budget: underWay(total: 0.6, longest: .seconds(6))) { stage in
            let (host, database) = (stage.cluster.hosts[0], stage.databases.primaryServer.host)
            let began = ContinuousClock.now
            try stage.cluster.network.part(host, from: database)
            try await stage.pause(.seconds(4))
            let felt = ContinuousClock.now
            let problems = try await wholeWhileGone(stage)
            try stage.cluster.network.join(host, with: database)
            for service in HostsCluster.services { try await stage.cluster.waitUntilReady(HostsCluster.Place(host: host, service: service)) }
            return Injection(times: [FaultTimes(began: began, ended: felt)], problems: problems)
        }
    }

    /// Two hosts that do not reach each other, while both reach the database and the world.
    private static func partedHosts() -> HostFault {
        HostFault(name: "host-a parted from host-b", budget: underWay(total: 0.6, longest: .milliseconds(8500))) { stage in
            let (one, other) = (stage.cluster.hosts[0], stage.cluster.hosts[1])
            let began = ContinuousClock.now
            try stage.cluster.network.part(one, from: other)
            try await stage.pause(.seconds(9))
            let felt = ContinuousClock.now
            let problems = try await wholeWhileGone(stage)
            try stage.cluster.network.join(one, with: other)
            return Injection(times: [FaultTimes(began: began, ended: felt)], problems: problems)
        }
    }
}
