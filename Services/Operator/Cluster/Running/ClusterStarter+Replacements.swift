internal import CommandKit

/// Services that somebody else runs.
extension ClusterStarter {
    /// A cluster that runs keeps the replacements that it was started with: the services that use them read their addresses at their start.
    /// - Parameter running: What `cluster.json` says of a cluster that runs.
    func replacements(beside running: ClusterFile?) throws -> [Replacement] {
        guard let running else { return replacements.sorted { $0.service.index < $1.service.index } }
        let known = running.replacements
        guard replacements.allSatisfy(known.contains) else {
            let now = known.isEmpty ? "no replaced service" : known.map { "\($0.service.rawValue) at \($0.address)" }.joined(separator: ", ")
            throw CommandFailure("the cluster in \(home.root.path) runs already, with \(now)", advice: "stop it with ./Services/down first")
        }
        return known
    }

    /// A cluster that runs stays open or closed to its network as it was started: its services read their addresses at their start.
    func lan(beside running: ClusterFile?) throws -> String? {
        guard let running else { return lan }
        guard lan == nil || lan == running.lan else {
            let now = running.lan.map { "open to its network at \($0)" } ?? "for this machine alone"
            throw CommandFailure("the cluster in \(home.root.path) runs already, \(now)", advice: "stop it with ./Services/down first")
        }
        return running.lan
    }

    /// - Parameter isRequired: False beside a cluster that runs: what is to be brought back must not wait for somebody else's service.
    func waitForReplacements(_ addresses: ClusterAddresses, until goal: ReplacementProbe.Goal, isRequired: Bool) async throws {
        for replacement in addresses.replacements {
            let what = "\(replacement.service.rawValue) at \(replacement.address), which is yours, \(goal.rawValue)"
            let probe = ReplacementProbe(
                replacement: replacement, pki: pki, console: console, patience: isRequired ? .seconds(20) : .milliseconds(500))
            do {
                try await console.step(what) { try await probe.wait(for: goal) }
            } catch  where !isRequired {
                console.note("  \(console.bad("away"))  \(PlainReason.of(error))")
            }
        }
    }

    /// One software statement per application; none where a replaced `config` issues none.
    func statements(_ addresses: ClusterAddresses) async throws -> [String: String] {
        let source = SoftwareStatements(addresses: addresses, pki: pki)
        guard addresses.isReplaced(.config) else { return try await source.fetch() }
        if let statements = try await source.fetchIfIssued() { return statements }
        console.note("  The replaced config issues no software statements to operator.boxoffice: apps cannot register with one of it.")
        return [:]
    }
}
