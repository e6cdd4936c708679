internal import ClusterCommands
internal import CommandKit
internal import ContractConformance
internal import Contracts
internal import Cryptography
internal import Foundation
internal import PeerDoubles
internal import Rpc
internal import Synchronization
internal import Tokens
internal import Transport

/// The process of the service of this checkout, which an examination may replace.
private final class RunningService: Sendable {
    private let state: Mutex<LoneService.Running>

    init(_ running: LoneService.Running) { state = Mutex(running) }

    var now: LoneService.Running {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// Prepares an examination: certificates, played peers, the implementation itself where none is named; and tidies up after it.
struct ConformanceSession {
    let options: ConformanceOptions
    let console: Console

    private static let host = "127.0.0.1"

    /// - Parameter requirements: Those to try; `nil`: all.
    /// - Throws: `CommandFailure` when nothing can be examined.
    func examine(_ requirements: [Requirement]?) async throws -> ConformanceReport {
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-conformance-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: scratch) }
        let text = ConformanceText(console: console)
        let progress: @Sendable (RequirementResult) -> Void = { text.line($0) }
        guard let address = options.address else { return try await examineOwn(requirements, scratch, progress) }
        guard let place = RpcAddress(address), place.port > 0 else {
            throw CommandFailure("--address is '\(address)'", advice: "give host:port, for example 127.0.0.1:7001", exit: .usage)
        }
        let doubles = try await playPeers()
        do {
            var subject = Subject(service: options.service, host: place.host, port: place.port, caller: try callerFiles())
            subject.peers = doubles
            if let command = options.change { subject.change = { try await ShellCommand(command).run() } }
            if let command = options.restart { subject.restart = { try await ShellCommand(command).run() } }
            try addStrangers(to: &subject, scratch)
            try await SubjectProbe(subject).wait(for: options.wait)
            let report = await ConformanceRun(subject, requirements: requirements).run(progress: progress)
            await doubles?.stop()
            return report
        } catch {
            await doubles?.stop()
            throw error
        }
    }

    /// The service of this checkout, with its peers played.
    private func examineOwn(
        _ requirements: [Requirement]?, _ scratch: URL, _ progress: @escaping @Sendable (RequirementResult) -> Void
    ) async throws -> ConformanceReport {
        guard let service = ClusterService(rawValue: options.service.rawValue) else {
            throw CommandFailure("this checkout has no service \(options.service.rawValue)")
        }
        let root = options.home.map { URL(fileURLWithPath: $0) } ?? scratch
        let ports = options.ports
        var lone = LoneService(service: service, home: ClusterHome(root: root), ports: ports)
        lone.behaviour = PeersForConformance.behaviour
        lone.binaries = options.binaries
        let client = HTTPExchange.makeClient()
        let outcome: Result<ConformanceReport, any Error>
        do {
            let exchange = HTTPExchange(client: client)
            let running = RunningService(try await lone.start(exchange: exchange))
            do {
                var subject = Subject(
                    service: options.service, host: Self.host, port: ports.main(service), caller: files(in: lone.home.pki, "operator"))
                subject.peers = running.now.doubles
                subject.restart = { [lone] in running.now = try await lone.restart(running.now, exchange: exchange) }
                let home = lone.home
                if service == .config { subject.change = { try CatalogueEdit(file: home.catalogue).make() } }
                try addStrangers(to: &subject, scratch, pki: home.pki)
                outcome = .success(await ConformanceRun(subject, requirements: requirements).run(progress: progress))
            } catch {
                outcome = .failure(error)
            }
            await lone.stop(running.now)
        } catch {
            outcome = .failure(error)
        }
        try await client.shutdown()
        return try outcome.get()
    }

    // MARK: Certificates

    private func callerFiles() throws -> TlsFiles {
        if let authority = options.authority, let certificate = options.certificate, let key = options.key {
            return TlsFiles(certificate: certificate, key: key, trustAnchors: authority)
        }
        return files(in: try pki(), "operator")
    }

    private func pki() throws -> URL {
        guard let home = options.home else {
            throw CommandFailure("no certificates are given", advice: "give --home, or --ca with --certificate and --key")
        }
        let folder = URL(fileURLWithPath: home).appendingPathComponent("pki")
        guard FileManager.default.fileExists(atPath: folder.appendingPathComponent("ca.crt").path) else {
            throw CommandFailure("\(folder.path) has no ca.crt", advice: "make one with BOXOFFICE_HOME=\(home) boxoffice pki")
        }
        return folder
    }

    private func files(in folder: URL, _ name: String) -> TlsFiles { PeerPki(folder: folder.path).files(of: name) }

    /// A caller with a certificate of another authority. If the authority's key is available, also a caller of the same authority that is on no list.
    private func addStrangers(to subject: inout Subject, _ scratch: URL, pki: URL? = nil) throws {
        let trusted = pki ?? options.home.map { URL(fileURLWithPath: $0).appendingPathComponent("pki") }
        do {
            let foreign = try CertificateAuthority.create(name: "Another authority")
            subject.foreigner = try write(foreign, name: "operator", as: "foreigner", in: scratch, anchors: subject.caller.trustAnchors)
            guard let trusted else { return }
            let (certificate, key) = (trusted.appendingPathComponent("ca.crt").path, trusted.appendingPathComponent("ca.key").path)
            guard FileManager.default.isReadableFile(atPath: key) else { return }
            let authority = CertificateAuthority(identity: try CertifiedKey(certificateFile: certificate, keyFile: key))
            subject.stranger = try write(authority, name: "stranger", as: "stranger", in: scratch, anchors: subject.caller.trustAnchors)
        } catch let error as CryptographyError {
            throw CommandFailure("no certificates can be made (\(PlainReason.of(error)))")
        }
    }

    private func write(_ authority: CertificateAuthority, name: String, as file: String, in folder: URL, anchors: String) throws -> TlsFiles {
        let issued = try authority.issue(commonName: "\(name).boxoffice", names: CertificateNames(dns: ["\(name).boxoffice"]))
        let files = TlsFiles(
            certificate: folder.appendingPathComponent("\(file).crt").path, key: folder.appendingPathComponent("\(file).key").path,
            trustAnchors: anchors)
        try Data(try issued.certificate.pem().utf8).write(to: URL(fileURLWithPath: files.certificate))
        try Data(try issued.key.pem().utf8).write(to: URL(fileURLWithPath: files.key))
        return files
    }

    // MARK: Peers

    private func playPeers() async throws -> PeerDoubles? {
        guard !options.service.peers.isEmpty, let port = options.peersPort else { return nil }
        let pki = try pki()
        let addresses = options.service.peers.enumerated().map { ($1, RpcAddress(host: Self.host, port: port + $0)) }
        let doubles: PeerDoubles
        do {
            doubles = try PeerDoubles(
                at: Dictionary(uniqueKeysWithValues: addresses),
                configuration: try PeersForConformance.configuration(in: URL(fileURLWithPath: options.home ?? "")),
                keys: DoubleKeys(statement: JoseSigningKey(try P256PrivateKey.generate())), behaviour: PeersForConformance.behaviour,
                pki: PeerPki(folder: pki.path))
            try await doubles.start()
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure(
                "the peers cannot be played (\(PlainReason.of(error)))", advice: "give another --peers-port, or the folder of their certificates")
        }
        for (peer, address) in addresses { console.line("  \(peer.rawValue) is played at \(address)") }
        console.line("  Waiting for \(options.service.rawValue) at \(options.address ?? "") ...")
        return doubles
    }
}

/// A harmless change of a catalogue file: another name of its first requestor.
struct CatalogueEdit {
    let file: URL

    /// - Throws: `CommandFailure` when the file is no catalogue.
    func make() throws {
        let text = try TextFile.read(file.path)
        guard var catalogue = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
            var requestors = catalogue["requestors"] as? [[String: Any]], !requestors.isEmpty
        else { throw CommandFailure("\(file.path) has no requestors") }
        requestors[0]["name"] = "Changed \(UUID().uuidString.prefix(8))"
        catalogue["requestors"] = requestors
        try JSONSerialization.data(withJSONObject: catalogue, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
            .write(to: file, options: .atomic)
    }
}

/// Waits for the implementation to answer.
struct SubjectProbe {
    let subject: Subject

    init(_ subject: Subject) { self.subject = subject }

    /// - Throws: `CommandFailure` when it does not in that time.
    func wait(for patience: Duration) async throws {
        let end = ContinuousClock.now + patience
        while true {
            guard let problem = await subject.problem() else { return }
            guard ContinuousClock.now < end else {
                throw CommandFailure(
                    "\(subject.service.rawValue) at \(subject.host):\(subject.port) cannot be examined (\(problem))",
                    advice: "is it started, with a certificate for \(subject.service.certificateName) that the authority signed?")
            }
            try await Task.sleep(for: .milliseconds(250))
        }
    }
}

/// A command given by the user.
struct ShellCommand {
    let text: String

    init(_ text: String) { self.text = text }

    /// - Throws: `CommandFailure` when it ends with another status than 0.
    func run() async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", text]
        process.standardInput = FileHandle.nullDevice
        let status: Int32 = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        guard status == 0 else { throw CommandFailure("'\(text)' ended with status \(status)") }
    }
}

/// The service to examine, as given on the command line.
struct ConformanceOptions: Sendable {
    var service: ExaminedService
    /// `host:port`; `nil`: the service of this checkout.
    var address: String?
    var home: String?
    var authority: String?
    var certificate: String?
    var key: String?
    var peersPort: Int?
    var change: String?
    var restart: String?
    var wait: Duration = .seconds(30)
    /// The ports of the service of this checkout.
    var ports = PortPlan(base: nil)
    var binaries = Checkout.binaries
}
