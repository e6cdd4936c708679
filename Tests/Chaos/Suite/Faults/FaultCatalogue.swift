import CommandKit

/// All experiments, in the order in which they run.
enum FaultCatalogue {
    static func experiments(isLong: Bool) -> [Experiment] {
        let services = ClusterService.allCases
        let storing: [ClusterService] = [.config, .authentication, .authorization, .autosignin]
        var unharmed = Budget()
        unharmed.mustHurt = false
        // The code that meets these faults is the same in all; a short run tries it where most hangs on it.
        let stalled = isLong ? services : [.authentication, .gateway]
        let parted: [ClusterService] = isLong ? storing : [.authentication, .autosignin]
        let skewed: [ClusterService] = isLong ? storing : [.authentication, .config]
        let processes = services.map { kill($0) } + stalled.map { stall($0) }
        let wire = [cut(), delay(), throttle(), corrupt(), halfOpen()] + parted.map { partition($0) }
        let machine = storing.map { diskFull($0) } + skewed.map { clock($0, seconds: 30, budget: unharmed) }
        // In these two each service starts before and after each other one.
        var restarts = [restart([services, services.reversed()], name: "restart all")]
        if isLong {
            restarts.append(restart(pairs(services), name: "restart pairs in every order"))
            restarts.append(restart(permutations(services), name: "restart all in every order"))
        }
        return processes + wire + machine + restarts
    }

    static func pairs(_ services: [ClusterService]) -> [[ClusterService]] {
        services.flatMap { first in services.filter { $0 != first }.map { [first, $0] } }
    }

    static func permutations(_ services: [ClusterService]) -> [[ClusterService]] {
        guard let first = services.first else { return [[]] }
        return permutations(Array(services.dropFirst())).flatMap { rest in
            (0...rest.count).map { place in Array(rest[..<place]) + [first] + Array(rest[place...]) }
        }
    }
}
