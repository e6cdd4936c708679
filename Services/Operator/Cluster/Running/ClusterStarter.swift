internal import CommandKit
internal import Contracts
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
    /// The files that somebody brings in place of the demo.
    var own = OwnFiles()
    var store: StoreChoice = .asBefore
    /// The copies of each service, 1 to `ClusterCopies.most`; `nil`: as the cluster that runs has them, else one.
    var copies: Int?
    /// This machine's address in its network, where phones are to reach the cluster.
    var lan: String?
    /// True when the demo's MVPDs are tried on a schedule.
    var hasTestUsers = true
    /// The environment of its programs beside their own.
    var environment: [String: String] = [:]

    var pki: LocalPki { LocalPki(folder: home.pki) }
    var stores: ClusterStore { ClusterStore(home: home, ports: ports, choice: store) }

    /// Stops what runs and removes what it remembers.
    func reset() async throws {
        if let file = try ClusterFile.read(home) {
            _ = await ClusterStopper.stop(file.processes)
            try FileManager.default.removeItem(at: home.clusterFile)
        }
        stores.stop()
        try home.forgetState()
        console.note("  State of earlier runs removed from \(home.root.path)")
    }

    /// Names a file that is somebody's, and of a catalogue what the demo has and it lacks.
    private func tellKept(_ file: URL) {
        console.note("  \(file.path) is yours and stays as it is; this release would write something else (remove it to have that)")
        guard file == home.catalogue else { return }
        let lacking = CatalogueComparison.lacking(in: file, of: checkout.appendingPathComponent("Services/Config/demo-catalogue.json"))
        if !lacking.isEmpty { console.note(console.faint("    the demo has beside it: \(lacking.joined(separator: ", "))")) }
    }

    /// Starts what is not running, and starts again what runs from another program than lies in `binaries` now; waits until all of it is ready.
    /// - Returns: The processes that were started.
    func start() async throws -> [ServiceProcess] {
        try home.prepare()
        let lock = try ClusterLock(home)
        defer { lock.release() }
        _ = try await console.step({ $0.isEmpty ? "Keys and certificates are there" : "Made keys and certificates in \(home.pki.path)" }) {
            try pki.ensure()
        }
        let known = try ClusterFile.read(home)
        var found = (known?.processes.filter(\.isRunning) ?? []).reduce(into: [ServiceCopy: Int32]()) { $0[$1.copy] = $1.pid }
        let before = found.isEmpty ? nil : known
        let addresses = ClusterAddresses(
            ports: ports, replacements: try replacements(beside: before), copies: copies(beside: before),
            lan: try lan(beside: before))
        if let lan = addresses.lan { try pki.ensureLan(lan) }
        let ours = ClusterService.allCases.filter { !addresses.isReplaced($0) }
        let wanted = addresses.copies.all(ours)
        let programs = Dictionary(uniqueKeysWithValues: try ours.map { ($0, try ProgramFile($0, in: binaries)) })
        let copied = try takeOwnFiles(programs)
        let moved = stores.moved
        let start = ContinuousClock.now
        let hasStore = try stores.prepare()
        if hasStore { console.step("PostgreSQL is ready at 127.0.0.1:\(ports.postgres)", took: ContinuousClock.now - start) }
        let former = settingsNow()
        var writer = SettingsWriter(
            home: home, ports: ports, checkout: checkout, pki: pki, https: https, replacements: addresses.replacements, store: store,
            copies: addresses.copies, lan: addresses.lan)
        writer.hasTestUsers = hasTestUsers
        let kept = try writer.write()
        try writer.writeCopies(addresses.copies)
        for file in kept where !copied.brought.contains(file) { tellKept(file) }
        var file = try found.isEmpty ? addresses.emptyFile(home: home, pki: pki) : known ?? addresses.emptyFile(home: home, pki: pki)
        file.gatewayTLS = addresses.gatewayTLS
        file.admin = addresses.isReplaced(.gateway) ? addresses.admin : GatewayListeners(settings: home.settings(of: .gateway)).administration
        file.console = "\(file.administration)/console"
        try await waitForReplacements(addresses, until: .answers, isRequired: found.isEmpty)
        let hasOtherCopies = !found.isEmpty && Set(wanted) != Set(file.processes.map(\.copy))
        let changed = settingsNow().filter { hasOtherCopies && former[$0.key] != $0.value }
        file.setCopies(addresses)
        found = await stopSurplus(found, besides: wanted)
        let running = await stop(await stopOutdated(found, file, programs), toChange: copied.services.union(moved).union(changed.keys))
        var started: [ServiceProcess] = []
        do {
            for copy in wanted where running[copy] == nil {
                guard let program = programs[copy.service] else { continue }
                // Another program's answer there would be taken for the program's own word that it is ready.
                guard ListenProbe.isFree(ports.debug(copy)) else { throw Self.taken(ports.debug(copy), by: copy) }
                let process = try spawn(copy, program)
                started.append(process)
                file.setProcess(process, of: program)
                try file.write(home)
            }
            try await waitForReplacements(addresses, until: .serves, isRequired: found.isEmpty)
            // The services that were running lacked its store until now.
            let lacking = hasStore ? running.map { ServiceProcess($0.key, pid: $0.value) } : []
            try await waitUntilReady(started + lacking, addresses)
            if !started.isEmpty { await waitForConnections(wanted, addresses) }
            if file.softwareStatements.isEmpty || !started.isEmpty && !addresses.isReplaced(.config) {
                file.softwareStatements = try await statements(addresses)
            }
        } catch {
            _ = await ClusterStopper.stop(started, patience: .seconds(3))
            forgetProcesses(started)
            throw error
        }
        try file.write(home)
        CertificateRenewer.start(home, binaries: binaries)
        if !addresses.isReplaced(.config) { await tellCatalogue(file, isBrought: own.catalogue != nil) }
        for copy in running.keys.sorted(by: Self.precede) where !started.isEmpty {
            console.note(console.faint("                  \(copy.name) was running already"))
        }
        return started
    }

    /// Stops what runs from another program than there is now, and says so.
    /// - Returns: The processes that go on.
    private func stopOutdated(
        _ found: [ServiceCopy: Int32], _ file: ClusterFile, _ programs: [ClusterService: ProgramFile]
    ) async -> [ServiceCopy: Int32] {
        let outdated = found.keys.sorted(by: Self.precede).compactMap { copy -> (copy: ServiceCopy, ran: ProgramFile?, now: ProgramFile)? in
            guard let now = programs[copy.service], file.program(of: copy) != now else { return nil }
            return (copy, file.program(of: copy), now)
        }
        guard !outdated.isEmpty else { return found }
        let isAll = Set(outdated.map(\.copy.service)).count == ClusterService.allCases.count
        let list = isAll ? "all services" : outdated.map(\.copy.name).joined(separator: ", ")
        console.note("  \(console.bold("Starting \(list) again")): \(ProgramFile.reason(outdated.map { ($0.ran, $0.now) }))")
        let killed = await ClusterStopper.stop(
            outdated.compactMap { entry in found[entry.copy].map { ServiceProcess(entry.copy, pid: $0) } })
        for copy in killed {
            console.note(console.bad("\(copy.name) did not stop in 10 s and was killed; its log is \(home.log(of: copy).path)"))
        }
        return found.filter { entry in !outdated.contains { $0.copy == entry.key } }
    }

    static func precede(_ one: ServiceCopy, _ other: ServiceCopy) -> Bool {
        (one.service.index, one.number) < (other.service.index, other.number)
    }

    /// Starts one copy of a service anew and enters it in `cluster.json`.
    func restart(_ service: ClusterService, number: Int = 1) async throws -> ServiceProcess {
        let program = try ProgramFile(service, in: binaries)
        let process = try spawn(ServiceCopy(service, number), program)
        if var file = try ClusterFile.read(home) {
            file.setProcess(process, of: program)
            try file.write(home)
        }
        return process
    }

    /// Takes ended processes out of `cluster.json`; removes the file when none is left.
    func forgetProcesses(_ ended: [ServiceProcess]) {
        guard let file = try? ClusterFile.read(home) else { return }
        let others = file.processes.filter { entry in !ended.contains { $0.copy == entry.copy } }
        guard !others.contains(where: \.isRunning) else { return }
        try? FileManager.default.removeItem(at: home.clusterFile)
    }

    private static func taken(_ port: Int, by copy: ServiceCopy) -> CommandFailure {
        CommandFailure(
            "\(copy.name) cannot start: another program listens at 127.0.0.1:\(port)",
            advice: "stop it (./Services/down where another cluster runs), or choose other ports with BOXOFFICE_PORT_BASE")
    }

    private func spawn(_ copy: ServiceCopy, _ program: ProgramFile) throws -> ServiceProcess {
        var process = try ServiceProcess.start(
            copy.service, binary: URL(fileURLWithPath: program.path), arguments: ["--config", home.settings(of: copy).path],
            environment: copy.service.environment.merging(environment) { $1 }, log: home.log(of: copy))
        process.number = copy.number
        return process
    }

    private func waitUntilReady(_ processes: [ServiceProcess], _ addresses: ClusterAddresses) async throws {
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: ServiceCopy.self) { group in
            for process in processes {
                group.addTask {
                    try await ReadinessProbe(home: home, exchange: exchange, url: addresses.readiness(of: process.copy)).wait(for: process)
                    return process.copy
                }
            }
            for try await copy in group {
                console.step("\(copy.name) is ready at \(addresses.main(copy))", took: ContinuousClock.now - start)
            }
        }
    }
    /// Waits until services have reached each other. One that came before its peer listened tries again within half a second, and refuses until then
    /// what it needs the peer for. Gives up in silence: a peer that somebody else runs may be away.
    private func waitForConnections(_ copies: [ServiceCopy], _ addresses: ClusterAddresses) async {
        let end = ContinuousClock.now + .seconds(2)
        for copy in copies where copy.service != .sandbox {
            while ContinuousClock.now < end, let answer = try? await exchange.send("GET", "http://\(addresses.debug(copy))/metrics"),
                Self.lacksConnections(answer.text)
            { try? await Task.sleep(for: .milliseconds(15)) }
        }
    }

    /// - Parameter metrics: In Prometheus' text form.
    static func lacksConnections(_ metrics: String) -> Bool {
        metrics.split(separator: "\n").contains { line in
            line.hasPrefix("boxoffice_rpc_client_connections{") && line.split(separator: " ").last.flatMap { Double($0) } == 0
        }
    }
}

extension ClusterStarter {
    /// Takes in what somebody brings, and says where what was there is now.
    func takeOwnFiles(_ programs: [ClusterService: ProgramFile]) throws -> OwnFiles.Copied {
        guard own.catalogue != nil || own.settings != nil else { return OwnFiles.Copied() }
        var written = WrittenFiles(record: home.writtenFiles)
        let copied = try own.copy(to: home, ports: ports, programs: programs, written: &written)
        try written.save()
        for file in copied.kept { console.note("  What you had there before is \(file.path) now") }
        return copied
    }

    /// Stops services that have other settings now.
    /// - Returns: The processes that go on.
    func stop(_ running: [ServiceCopy: Int32], toChange changed: Set<ClusterService>) async -> [ServiceCopy: Int32] {
        let outdated = running.filter { changed.contains($0.key.service) }
        guard !outdated.isEmpty else { return running }
        let names = outdated.keys.sorted(by: Self.precede).map(\.name)
        console.note("  \(console.bold("Starting \(names.joined(separator: ", ")) again")): it has other settings")
        _ = await ClusterStopper.stop(outdated.map { ServiceProcess($0.key, pid: $0.value) })
        return running.filter { outdated[$0.key] == nil }
    }

    /// Says when `config` does not take in the catalogue file because it changed beside what administrators pushed, and what it would change.
    func tellCatalogue(_ file: ClusterFile, isBrought: Bool) async {
        do {
            let answer = try await CatalogueImporter(file).bring(nil, isForced: false)
            let lines = try answer.told(of: home.catalogue.path)
            if isBrought { for line in lines { console.note("  \(line)") } }
        } catch {
            console.note("  \(console.bad(PlainReason.of(error)))")
        }
    }
}

/// Services that somebody else runs.
extension ClusterStarter {
    /// A cluster that runs keeps the replacements that it was started with: the services that use them read their addresses at their start.
    /// - Parameter running: The cluster that runs, as `cluster.json` describes it.
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
