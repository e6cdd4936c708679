internal import Foundation

/// Brings up a cluster: keys, settings, catalogue, processes, and `cluster.json`.
struct ClusterStarter: Sendable {
    let home: ClusterHome
    let ports: PortPlan
    let checkout: URL
    let binaries: URL
    let console: Console
    let exchange: HTTPExchange
    /// Given for HTTPS; `nil`: of the local PKI.
    var https: HttpsFiles?
    /// Services that somebody else runs.
    var replacements: [Replacement] = []

    var pki: LocalPki { LocalPki(folder: home.pki) }

    /// Stops what runs and removes what it remembers.
    func reset() async throws {
        if let file = try ClusterFile.read(home) {
            _ = await ClusterStopper.stop(file.processIDs.map { ServiceProcess(service: $0.key, pid: $0.value) })
            try FileManager.default.removeItem(at: home.clusterFile)
        }
        try home.forgetState()
        console.line("  State of earlier runs removed from \(home.root.path)")
    }

    /// Starts what is not running and waits until all of it is ready.
    /// - Returns: What was started.
    func start() async throws -> [ServiceProcess] {
        try home.prepare()
        let lock = try ClusterLock(home)
        defer { lock.release() }
        let made = try await console.step({ $0.isEmpty ? "Keys and certificates are there" : "Made keys and certificates in \(home.pki.path)" }) {
            try pki.ensure()
        }
        _ = made
        let known = try ClusterFile.read(home)
        let running = known?.processIDs.filter { ServiceProcess(service: $0.key, pid: $0.value).isRunning } ?? [:]
        let addresses = ClusterAddresses(ports: ports, replacements: try replacements(beside: running.isEmpty ? nil : known))
        try SettingsWriter(home: home, ports: ports, checkout: checkout, pki: pki, https: https, replacements: addresses.replacements).write()
        var file = try running.isEmpty ? addresses.emptyFile(home: home, pki: pki) : known ?? addresses.emptyFile(home: home, pki: pki)
        file.gatewayTLS = addresses.gatewayTLS
        try await waitForReplacements(addresses, until: .answers, isRequired: running.isEmpty)
        var started: [ServiceProcess] = []
        do {
            for service in ClusterService.allCases where running[service] == nil && !addresses.isReplaced(service) {
                let process = try spawn(service)
                started.append(process)
                file.setProcess(process)
                try file.write(home)
            }
            try await waitForReplacements(addresses, until: .serves, isRequired: running.isEmpty)
            try await waitUntilReady(started, addresses)
            if file.softwareStatements.isEmpty || !started.isEmpty && !addresses.isReplaced(.config) {
                file.softwareStatements = try await statements(addresses)
            }
        } catch {
            _ = await ClusterStopper.stop(started, patience: .seconds(3))
            forgetProcesses(started)
            throw error
        }
        try file.write(home)
        for service in running.keys.sorted(by: { $0.index < $1.index }) where !started.isEmpty {
            console.line(console.faint("                  \(service.rawValue) was running already"))
        }
        return started
    }

    /// Starts one service anew and enters it in `cluster.json`.
    func restart(_ service: ClusterService) async throws -> ServiceProcess {
        let process = try spawn(service)
        if var file = try ClusterFile.read(home) {
            file.setProcess(process)
            try file.write(home)
        }
        return process
    }

    /// Takes ended processes out of `cluster.json`; removes the file when none is left.
    func forgetProcesses(_ ended: [ServiceProcess]) {
        guard let file = try? ClusterFile.read(home) else { return }
        let others = file.processIDs.filter { entry in !ended.contains { $0.service == entry.key } }
        guard !others.contains(where: { ServiceProcess(service: $0.key, pid: $0.value).isRunning }) else { return }
        try? FileManager.default.removeItem(at: home.clusterFile)
    }

    private func spawn(_ service: ClusterService) throws -> ServiceProcess {
        let binary = binaries.appendingPathComponent(service.rawValue)
        guard FileManager.default.isExecutableFile(atPath: binary.path) else {
            throw CommandFailure("\(binary.path) is not built", advice: "run ./Services/up, which builds it")
        }
        return try .start(
            service, binary: binary, arguments: ["--config", home.settings(of: service).path], environment: service.environment,
            log: home.log(of: service))
    }

    private func waitUntilReady(_ processes: [ServiceProcess], _ addresses: ClusterAddresses) async throws {
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: ClusterService.self) { group in
            for process in processes {
                group.addTask {
                    try await ReadinessProbe(home: home, exchange: exchange, url: addresses.readiness(of: process.service)).wait(for: process)
                    return process.service
                }
            }
            for try await service in group {
                console.step("\(service.rawValue) is ready at \(addresses.main(service))", took: ContinuousClock.now - start)
            }
        }
    }
}
