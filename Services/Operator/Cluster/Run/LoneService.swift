internal import CatalogueFiles
package import Clocks
package import CommandKit
internal import ContractRuntime
package import Contracts
internal import Cryptography
package import Foundation
package import PeerDoubles
internal import Rpc
internal import Tokens

/// One service program by itself: its peers are doubles in this process, or whoever listens at their addresses.
package struct LoneService: Sendable {
    let service: ClusterService
    package let home: ClusterHome
    let ports: PortPlan
    /// Catalogue file in place of the demo catalogue.
    var catalogue: String?
    /// Doubles of its peers answer in this way; `nil`: there are none.
    package var behaviour: DoubleBehaviour?
    /// Starts the stand-in MVPD and Apple too.
    var hasSandbox = false
    var checkout = Checkout.current
    package var binaries = Checkout.binaries

    package init(
        service: ClusterService, home: ClusterHome, ports: PortPlan, catalogue: String? = nil, behaviour: DoubleBehaviour? = nil,
        hasSandbox: Bool = false
    ) {
        (self.service, self.home, self.ports) = (service, home, ports)
        (self.catalogue, self.behaviour, self.hasSandbox) = (catalogue, behaviour, hasSandbox)
    }

    /// The running service.
    package struct Running: Sendable {
        let process: ServiceProcess
        let sandbox: ServiceProcess?
        package let doubles: PeerDoubles?
        let file: ClusterFile
    }

    private var pki: LocalPki { LocalPki(folder: home.pki) }
    private var addresses: ClusterAddresses { ClusterAddresses(ports: ports) }

    /// The services that it calls.
    var peers: [PeerDoubles.Peer] {
        switch service {
        case .config, .sandbox: []
        case .authentication: [.config]
        case .authorization, .autosignin: [.config, .authentication]
        case .gateway: [.config, .authentication, .authorization, .autosignin]
        }
    }

    /// Makes keys and settings, starts the doubles and the program, and writes `cluster.json`; the program is ready on return.
    /// - Throws: `CommandFailure`; nothing runs then.
    package func start(exchange: HTTPExchange) async throws -> Running {
        try home.prepare()
        try refuseSecond()
        try refuseTakenPorts()
        try pki.ensure()
        try writeSettings()
        let doubles = try behaviour.map { try makeDoubles($0) }
        do {
            try await doubles?.start()
        } catch {
            throw CommandFailure(
                "a double cannot listen (\(PlainReason.of(error)))", advice: "stop the port's owner, or move all ports with BOXOFFICE_PORT_BASE")
        }
        var started: [ServiceProcess] = []
        do {
            let sandbox = hasSandbox ? try spawn(.sandbox) : nil
            if let sandbox { started.append(sandbox) }
            let process = try spawn(service)
            started.append(process)
            for process in started {
                let url = addresses.readiness(of: process.service)
                try await ReadinessProbe(home: home, exchange: exchange, url: url).wait(for: process)
            }
            let file = try await clusterFile(process, sandbox, doubles)
            try file.write(home)
            CertificateRenewer.start(home, binaries: binaries)
            return Running(process: process, sandbox: sandbox, doubles: doubles, file: file)
        } catch {
            _ = await ClusterStopper.stop(started, patience: .seconds(3))
            await doubles?.stop()
            throw error
        }
    }

    /// Stops the program, then its peers.
    /// - Returns: True when it had to be killed.
    @discardableResult
    package func stop(_ running: Running) async -> Bool {
        let killed = await ClusterStopper.stop([running.process, running.sandbox].compactMap { $0 })
        await running.doubles?.stop()
        try? FileManager.default.removeItem(at: home.clusterFile)
        return killed.contains { $0.service == service }
    }

    /// Ends the program without a warning and starts it again on what it has stored; its doubles stay. It is ready on return.
    /// - Throws: `CommandFailure` when it does not start.
    package func restart(_ running: Running, exchange: HTTPExchange) async throws -> Running {
        running.process.signal(SIGKILL)
        while running.process.isRunning { try await Task.sleep(for: .milliseconds(10)) }
        let process = try spawn(service)
        do {
            try await ReadinessProbe(home: home, exchange: exchange, url: addresses.readiness(of: service)).wait(for: process)
        } catch {
            _ = await ClusterStopper.stop([process])
            throw error
        }
        return Running(process: process, sandbox: running.sandbox, doubles: running.doubles, file: running.file)
    }

    /// The last lines of the program's log.
    func lastLines(_ count: Int = 5) -> [String] {
        let text = (try? String(contentsOf: home.log(of: service), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(count).map(String.init)
    }
}

extension LoneService {
    private func refuseSecond() throws {
        guard let file = try ClusterFile.read(home) else { return }
        let running = file.processes.filter(\.isRunning)
        guard running.isEmpty else {
            let names = running.map(\.copy.name).sorted().joined(separator: ", ")
            throw CommandFailure("\(names) runs in \(home.root.path) already", advice: "stop it first, or give another folder with --home")
        }
    }

    /// A program that has the port already would answer in the new program's place until that has found out and ended.
    private func refuseTakenPorts() throws {
        let taken = [service, hasSandbox ? .sandbox : service].flatMap { [ports.main($0), ports.debug($0)] }.first { !ListenProbe.isFree($0) }
        guard let taken else { return }
        throw CommandFailure(
            "port \(taken) of 127.0.0.1, which \(service.rawValue) needs, is in use",
            advice: "stop its owner, or move all ports with BOXOFFICE_PORT_BASE")
    }

    /// As in a whole cluster; the catalogue may be another one.
    private func writeSettings() throws {
        try SettingsWriter(home: home, ports: ports, checkout: checkout, pki: pki).writeAnew()
        guard service == .config, let catalogue else { return }
        let file = home.settings(of: .config)
        let text = try TextFile.read(file.path)
        guard var settings = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
            var config = settings["config"] as? [String: Any]
        else { throw CommandFailure("\(file.path) is not a JSON object") }
        config["catalogue"] = URL(fileURLWithPath: catalogue).path
        settings["config"] = config
        try JSONSerialization.data(withJSONObject: settings, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
            .write(to: file, options: .atomic)
    }

    private func makeDoubles(_ behaviour: DoubleBehaviour) throws -> PeerDoubles {
        let file = catalogue ?? home.catalogue.path
        let configuration = try DoubleCatalogue(file: file, hasDecisionPoints: hasSandbox).configuration()
        var behaviour = behaviour
        behaviour.publicOrigin = addresses.gateway
        let places = peers.map { ($0, RpcAddress(host: "127.0.0.1", port: ports.main($0.service))) }
        do {
            return try PeerDoubles(
                at: Dictionary(uniqueKeysWithValues: places), configuration: configuration, keys: try keys(), behaviour: behaviour,
                pki: PeerPki(folder: home.pki.path))
        } catch let error as CommandFailure {
            throw error
        } catch {
            throw CommandFailure("the doubles cannot be made (\(PlainReason.of(error)))", advice: "remove \(home.pki.path) and start again")
        }
    }

    private func keys() throws -> DoubleKeys {
        DoubleKeys(
            statement: try JoseSigningKey(pemFile: pki.path("statement.key")), mediaToken: try RSAPrivateKey(pemFile: pki.path("media-token.key")),
            mediaTokenJws: try JoseSigningKey(pemFile: pki.path("media-token-ec.key")),
            mediaTokenCertificates: try TextFile.read(pki.path("media-token.crt")))
    }

    private func spawn(_ service: ClusterService) throws -> ServiceProcess {
        try .start(
            service, binary: URL(fileURLWithPath: try ProgramFile(service, in: binaries).path),
            arguments: ["--config", home.settings(of: service).path], environment: service.environment, log: home.log(of: service))
    }

    private func clusterFile(_ process: ServiceProcess, _ sandbox: ServiceProcess?, _ doubles: PeerDoubles?) async throws -> ClusterFile {
        var file = try addresses.emptyFile(home: home, pki: pki)
        let there = Set([service.rawValue] + (doubles == nil ? [] : peers.map(\.rawValue)))
        file.services = file.services.filter { there.contains($0.key) }
        for process in [process, sandbox].compactMap({ $0 }) { file.setProcess(process, of: try ProgramFile(process.service, in: binaries)) }
        if let doubles {
            file.doubles = peers.map(\.rawValue)
            file.softwareStatements = try await statements(doubles)
        } else if service == .config {
            file.softwareStatements = try await SoftwareStatements(addresses: addresses, pki: pki).fetch()
        }
        return file
    }

    private func statements(_ doubles: PeerDoubles) async throws -> [String: String] {
        var statements: [String: String] = [:]
        for application in doubles.config.configuration.applications {
            let request = IssueSoftwareStatementRequest(applicationID: application.id)
            statements[application.id] = try await doubles.config.issueSoftwareStatement(request, context: CallContext()).statement
        }
        return statements
    }
}

extension PeerDoubles.Peer {
    /// The program that it stands in for.
    var service: ClusterService {
        switch self {
        case .config: .config
        case .authentication: .authentication
        case .authorization: .authorization
        case .autosignin: .autosignin
        }
    }
}

/// The configuration that a config double serves: a catalogue file as a service would have it.
package struct DoubleCatalogue {
    let file: String
    /// True: a decision point that the catalogue names is there; false: whoever is signed in may watch.
    let hasDecisionPoints: Bool

    package init(file: String, hasDecisionPoints: Bool) {
        self.file = file
        self.hasDecisionPoints = hasDecisionPoints
    }

    /// - Throws: `CommandFailure` with the file's problems.
    package func configuration(clock: any WallClock = SystemClock()) throws -> Configuration {
        let now = clock.now()
        var configuration: Configuration
        do {
            configuration = try CatalogueFile(path: file).read(now: now).configuration
        } catch {
            throw CommandFailure("the catalogue cannot be used", advice: error.lines.joined(separator: "\n"))
        }
        // Greater than in every earlier run: a service with state of one keeps the greatest.
        configuration.version = UInt64(clamping: now.milliseconds)
        configuration.changedAtMilliseconds = UInt64(clamping: now.milliseconds)
        for index in configuration.applications.indices {
            configuration.applications[index].softwareIDs = ["double-\(configuration.applications[index].id)"]
        }
        if !hasDecisionPoints {
            for index in configuration.mvpds.indices { configuration.mvpds[index].authorization?.protocol = .none }
        }
        return configuration
    }
}
