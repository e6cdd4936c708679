import Foundation

/// Runs what is compared, one after the other.
struct Bench {
    let cluster: LocalCluster
    let load: LoadProgram
    /// Folder for the files of requests.
    let work: URL
    let helloPort: Int
    let cores = ProcessInfo.processInfo.activeProcessorCount

    private var helloFile: URL { work.appending(path: "hello.requests") }

    func prepare() throws { try Scenario.hello().write(to: helloFile) }

    func ceiling() throws -> LoadProgram.Result { try load.ceiling(requests: helloFile) }

    func compare(_ scenario: Scenario, rounds: Int) async throws -> Comparison {
        let requests = work.appending(path: "scenario.requests")
        try scenario.requests.write(to: requests)
        // The first calls of a process fill its caches.
        _ = try load.run(port: cluster.port, status: scenario.status, requests: requests)
        var comparison = Comparison(scenario)
        for _ in 0..<rounds { comparison.add(try round(scenario, requests)) }
        return comparison
    }

    private func round(_ scenario: Scenario, _ requests: URL) throws -> Comparison.Round {
        let hello = try load.run(port: helloPort, status: 200, requests: helloFile)
        var signatures: Double?
        if case .signatures(let algorithm) = scenario.measure { signatures = try SignatureSpeed(cores: cores).measure(algorithm) }
        let before = ProcessTimes(cluster.processes)
        let target = try load.run(port: cluster.port, status: scenario.status, requests: requests)
        let after = ProcessTimes(cluster.processes)
        let spent = after.spent(since: before)
        let ownLoad = target.ownCost * Double(target.calls) / 1e6
        var cost = spent.mapValues { $0 * 1e6 / Double(target.calls) }
        cost["load"] = target.ownCost
        return Comparison.Round(
            hello: hello, target: target, signatures: signatures, cost: cost,
            otherShare: after.otherShare(since: before, own: spent.values.reduce(ownLoad, +), cores: cores))
    }
}
