package import CommandKit
internal import Foundation
internal import ServiceKit
internal import Simulation

extension ClusterStarter {
    /// A simulated TV and a simulated person sign in, authorize a channel and get a media token. They do so once more at an MVPD that decides by
    /// signed messages in SOAP.
    /// - Parameter stoppingOnFailure: Stopped when a step fails, so that a failed start leaves nothing behind.
    func playSignIn(stoppingOnFailure started: [ServiceProcess]) async throws {
        guard let file = try ClusterFile.read(home), let statement = file.softwareStatements["acme-tv"] else {
            if let file = try ClusterFile.read(home), file.softwareStatements.isEmpty, file.replacements.contains(where: { $0.service == .config }) {
                return console.note("No sign-in is played: there is no software statement to register an app with.\n")
            }
            throw CommandFailure("the catalogue has no application 'acme-tv'", advice: "use --no-demo with a catalogue of your own")
        }
        let plays = [
            ("NorthCable", "One sign-in, played through the cluster"), ("LakeTel", "One more, at an MVPD that decides by signed messages in SOAP"),
        ]
        for (mvpd, heading) in plays {
            console.line(console.bold(heading))
            let setup = DeviceSetup(
                exchange: exchange, gateway: file.gateway, requestor: "ACME1", statement: statement, apple: file.sandbox.apple,
                certificates: try TextFile.read(file.mediaTokenCertificate))
            let session = DeviceSession(console: console, setup: setup, resource: "ACME1-NEWS", viewer: .simulated(name: "ada", mvpd: mvpd))
            do {
                try await session.play(deviceID: "demo-\(UUID().uuidString)")
            } catch {
                console.failed(PlainReason.of(error))
                _ = await ClusterStopper.stop(started)
                forgetProcesses(started)
                throw CommandFailure("the sign-in failed", advice: "the logs are in \(home.logs.path)")
            }
            console.line()
        }
    }

    private func tellNetwork(_ lan: String) {
        console.line("\n  \(console.bold("Open to your network")) at \(lan)")
        console.line(
            "    A phone opens the address of the QR code that '\(Checkout.commandLine) device' shows. It warns of the certificate, whose authority is this"
        )
        console.line("    cluster's own: go on, or make \(pki.path("ca.crt")) known to it.")
        console.line(
            "    Everybody in that network reaches the gateway and the stand-in MVPD, whose people have their names as passwords: not for networks of"
        )
        console.line("    strangers. Administration, metrics and the services stay on this machine.")
    }

    /// The facts that a program wants about a cluster that is ready; the administrator's token is in `cluster.json` alone.
    /// - Parameters:
    ///   - started: The processes that were started now.
    ///   - took: Until all of it was ready.
    func summary(_ started: [ServiceProcess], _ took: Duration) -> [String: Any] {
        let file = (try? ClusterFile.read(home)) ?? nil
        let addresses = ClusterAddresses(ports: ports, replacements: file?.replacements ?? [], copies: copies(beside: file), lan: file?.lan)
        let observed = addresses.copies.all(ClusterService.allCases.filter { $0 != .sandbox && !addresses.isReplaced($0) })
        let administration = file?.administration ?? addresses.admin
        var members: [String: Any] = [
            "milliseconds": Console.milliseconds(took), "gateway": addresses.gateway, "gatewayTLS": addresses.gatewayTLS,
            "secondScreen": "\(addresses.gateway)/activate", "admin": administration, "console": "\(administration)/console",
            "mvpd": addresses.sandbox, "metrics": observed.map { "http://\(addresses.debug($0))/metrics" }, "programs": binaries.path,
            "build": SoftwareVersion.build, "logs": home.logs.path, "clusterFile": home.clusterFile.path,
            "started": started.map { ["service": $0.copy.name, "pid": Int($0.pid)] as [String: Any] },
            "replaced": Dictionary(uniqueKeysWithValues: (file?.replacements ?? []).map { ($0.service.rawValue, "\($0.address)") }),
        ]
        if let lan = addresses.lan { members["lan"] = lan }
        return members
    }

    func printSummary(isDetached: Bool) {
        let file = (try? ClusterFile.read(home)) ?? nil
        let replaced = file?.replacements ?? []
        let addresses = ClusterAddresses(ports: ports, replacements: replaced, copies: copies(beside: file), lan: file?.lan)
        let observed = addresses.copies.all(ClusterService.allCases.filter { $0 != .sandbox && !addresses.isReplaced($0) })
        let administration = file?.administration ?? addresses.admin
        var rows = [
            ("Public API", addresses.lan == nil ? "\(addresses.gateway) \(addresses.gatewayTLS)" : addresses.gateway),
            ("Second screen", "\(addresses.gateway)/activate"),
            ("Administration", administration), ("Console", "\(administration)/console"), ("Stand-in MVPD", addresses.sandbox),
            ("Metrics", observed.map { "http://\(addresses.debug($0))/metrics" }.joined(separator: " ")),
            ("Programs", "\(binaries.path) (\(SoftwareVersion.build) build)"), ("Logs", home.logs.path), ("For scripts", home.clusterFile.path),
        ]
        if !replaced.isEmpty {
            rows.append(("Yours", replaced.map { "\($0.service.rawValue) at \($0.address)" }.joined(separator: " ") + " (down leaves it running)"))
        }
        rows.forEach { console.line("  \($0.0.padding(toLength: 15, withPad: " ", startingAt: 0)) \($0.1)") }
        if let lan = addresses.lan { tellNetwork(lan) }
        let program = Checkout.commandLine
        console.line("\n  \(console.bold("Try next"))")
        console.line("    \(program) device              a TV with a remote; sign in as ada/ada at NorthCable")
        console.line("    \(program) device --as ben --resource ACME1-SPORT      a person who may not watch it")
        console.line("    \(program) device --as ada --apple-account ada; \(program) device --apple-account ada      the second one needs no code")
        console.line("    jq -r .adminToken \(home.clusterFile.path)      the token that opens the console")
        let trust = addresses.lan == nil ? "" : "--cacert \(pki.path("ca.crt")) "
        console.line("    curl -s \(trust)'\(addresses.gateway)/api/v1/config/ACME1.json'")
        console.line(isDetached ? "    ./Services/down             stops the cluster" : "\n  Ctrl-C stops the cluster.")
    }
}

/// Copies of services.
extension ClusterStarter {
    /// A cluster that runs keeps its copies unless others are asked for.
    func copies(beside running: ClusterFile?) -> ClusterCopies {
        let known = running?.services.values.map { 1 + ($0.copies?.count ?? 0) }.max()
        return ClusterCopies(copies ?? known ?? 1, store: stores)
    }

    /// Stops copies that are not to be there any more.
    /// - Returns: Those that go on.
    func stopSurplus(_ found: [ServiceCopy: Int32], besides wanted: [ServiceCopy]) async -> [ServiceCopy: Int32] {
        let surplus = found.filter { !wanted.contains($0.key) }
        guard !surplus.isEmpty else { return found }
        console.note("  Stopping \(surplus.keys.map(\.name).sorted().joined(separator: ", "))")
        _ = await ClusterStopper.stop(surplus.map { ServiceProcess($0.key, pid: $0.value) })
        return found.filter { wanted.contains($0.key) }
    }

    /// Settings as they are now, to find out whose have changed.
    func settingsNow() -> [ClusterService: Data] {
        ClusterService.allCases.reduce(into: [:]) { $0[$1] = FileManager.default.contents(atPath: home.settings(of: $1).path) }
    }
}

extension SettingsWriter {
    /// Gives each further copy of a service its settings: those of the first one, but for the ports.
    /// - Throws: `CommandFailure` when they cannot be read or written.
    func writeCopies(_ copies: ClusterCopies) throws {
        for service in ClusterService.allCases {
            let content = try Data(contentsOf: home.settings(of: service))
            for number in 2...ClusterCopies.most {
                let copy = ServiceCopy(service, number)
                let file = home.settings(of: copy)
                guard number <= copies.count(service) else {
                    try? FileManager.default.removeItem(at: file)
                    continue
                }
                // The first copy complains about an unreadable file.
                guard var settings = try? JSONSerialization.jsonObject(with: content) as? [String: Any] else { continue }
                for (key, port) in [("listen", ports.main(copy)), ("debug", ports.debug(copy))] {
                    var place = settings[key] as? [String: Any] ?? ["address": "127.0.0.1"]
                    place["port"] = port
                    settings[key] = place
                }
                try WrittenFiles.replace(file, with: try Self.content(settings))
            }
        }
    }
}

/// Lets one `up` at a time work on a home folder; released by the kernel when the process dies.
struct ClusterLock {
    private let descriptor: Int32

    /// - Throws: `CommandFailure` when another `up` is starting this cluster.
    init(_ home: ClusterHome) throws {
        descriptor = open(home.lockFile.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandFailure("cannot open \(home.lockFile.path)", advice: String(cString: strerror(errno))) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw CommandFailure("another 'up' is starting the cluster in \(home.root.path)", advice: "wait for it, or set another BOXOFFICE_HOME")
        }
    }

    func release() { close(descriptor) }
}

/// Stops processes of a cluster: asks first, and insists after a while.
package enum ClusterStopper {
    /// - Parameters:
    ///   - processes: Those that still run are asked to stop.
    ///   - patience: How long they may take to finish what they are doing.
    /// - Returns: Those that had to be killed.
    package static func stop(_ processes: [ServiceProcess], patience: Duration = .seconds(10)) async -> [ServiceCopy] {
        // The gateway first, so that no new request meets a service that is on its way out.
        let running = processes.filter(\.isRunning).sorted { $0.service.index < $1.service.index }
        running.forEach { $0.signal(SIGTERM) }
        let end = ContinuousClock.now + patience
        var left = running
        while !left.isEmpty, ContinuousClock.now < end {
            try? await Task.sleep(for: .milliseconds(20))
            left = left.filter(\.isRunning)
        }
        left.forEach { $0.signal(SIGKILL) }
        let killed = left.map(\.copy)
        let last = ContinuousClock.now + .seconds(2)
        while !left.isEmpty, ContinuousClock.now < last {
            try? await Task.sleep(for: .milliseconds(10))
            left = left.filter(\.isRunning)
        }
        return killed
    }
}

/// The number of copies of each service of a local cluster.
struct ClusterCopies: Sendable, Equatable {
    /// As many as have ports of their own.
    static let most = 8

    private let count: Int
    /// Services of which there is one, whatever the count is.
    private let lone: Set<ClusterService>

    /// - Parameters:
    ///   - count: 1 to `most`.
    ///   - store: `config` has one writer, unless its store is in PostgreSQL.
    init(_ count: Int = 1, store: ClusterStore? = nil) {
        self.count = count
        lone = store?.isServer(.config) == true ? [.gateway, .sandbox] : [.gateway, .sandbox, .config]
    }

    func count(_ service: ClusterService) -> Int { lone.contains(service) ? 1 : count }

    func all(_ services: [ClusterService]) -> [ServiceCopy] {
        services.flatMap { service in (1...count(service)).map { ServiceCopy(service, $0) } }
    }
}

extension PortPlan {
    /// True when the ports of all copies are ports.
    var hasRoomForCopies: Bool { debug(ServiceCopy(.autosignin, ClusterCopies.most)) < 65536 }
}
