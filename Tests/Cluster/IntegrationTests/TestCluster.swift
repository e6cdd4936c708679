@testable import ClusterCommands
@testable import CommandKit
@testable import Simulation
@testable import WorkshopCommands
import Clocks
import Foundation
import MediaTokenVerifier
import Testing
import TextEncodings

/// A cluster of the real programs, with keys, state and ports of its own.
struct TestCluster: Sendable {
    let starter: ClusterStarter
    let exchange: HTTPExchange
    let ports: PortPlan
    /// Another cluster that signs its people in and decides for it; `nil`: it does so itself.
    var upstream: UpstreamSide?
    /// Moves the time of day of its programs; `nil`: they have the machine's.
    private(set) var clock: MovableClock?

    /// The other cluster of a bridge.
    struct UpstreamSide: Sendable {
        let starter: ClusterStarter
        let ports: PortPlan
    }

    /// The time of day that its programs see.
    var now: Timestamp { SystemClock().now() + (clock?.offset ?? .zero) }

    /// True when another cluster signs its people in: what it does itself elsewhere is that one's (bridge §18).
    var isBridge: Bool { upstream != nil }

    /// Where the stand-in MVPDs are, and the gateway that they know.
    var standIns: ClusterAddresses { ClusterAddresses(ports: upstream?.ports ?? ports) }

    /// The folder with the keys of the stand-in MVPDs.
    var standInKeys: URL { (upstream?.starter.home ?? home).pki }

    /// The cluster of the suite that runs.
    @TaskLocal static var current: TestCluster?

    static func running() throws -> TestCluster { try #require(current) }

    var home: ClusterHome { starter.home }
    var gateway: String { ClusterAddresses(ports: ports).gateway }
    var administration: String { ClusterAddresses(ports: ports).admin }

    /// `BOXOFFICE_TEST_STORE=postgres` runs the suites on PostgreSQL, as `up --store` does.
    /// - Parameters:
    ///   - hasTestUsers: True when the MVPDs are tried on a schedule, which would get among what a test counts there.
    ///   - takesKeys: True when its RSA keys are those of an earlier cluster, where there is one.
    ///   - clock: The time of day of its programs; `nil`: the machine's.
    init(exchange: HTTPExchange, hasTestUsers: Bool = false, takesKeys: Bool = true, clock: MovableClock? = nil) throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-\(UUID().uuidString.prefix(8))")
        let checkout = Checkout.current
        self.exchange = exchange
        ports = PortPlan(base: try FreePorts.base())
        var starter = ClusterStarter(
            home: ClusterHome(root: root), ports: ports, checkout: checkout, binaries: try Self.binaries(checkout), console: Console(isQuiet: true),
            exchange: exchange, store: try StoreChoice(ProcessInfo.processInfo.environment["BOXOFFICE_TEST_STORE"]))
        starter.hasTestUsers = hasTestUsers
        starter.environment = clock?.environment ?? [:]
        self.clock = clock
        self.starter = starter
        if takesKeys { try takeKeys() }
    }

    /// A cluster that is a bridge to another one, which runs already.
    init(exchange: HTTPExchange, bridgedTo other: TestCluster) throws {
        try self.init(exchange: exchange)
        upstream = UpstreamSide(starter: other.starter, ports: other.ports)
    }

    /// RSA keys take most of a first start. `BOXOFFICE_TEST_KEYS` names the folder of an earlier cluster's keys, which a run of all tests makes once.
    private func takeKeys() throws {
        guard ProcessInfo.processInfo.environment["BOXOFFICE_TEST_KEYS"] != nil else { return }
        try home.prepare()
        try Self.takeKeys(to: home.pki)
    }

    /// - Parameter target: A folder that is there.
    static func takeKeys(to target: URL) throws {
        guard let folder = ProcessInfo.processInfo.environment["BOXOFFICE_TEST_KEYS"].map({ URL(fileURLWithPath: $0) }) else { return }
        for name in LocalPki.signers.flatMap({ ["\($0).crt", "\($0).key"] }) + [LocalPki.platformKey, LocalPki.platformKeySet] {
            try FileManager.default.copyItem(at: folder.appendingPathComponent(name), to: target.appendingPathComponent(name))
        }
    }

    /// The folder of the programs under test: `BOXOFFICE_BINARIES`, else the build for development, as for the scripts (Tests/Tooling/paths.sh).
    static func binaries(_ checkout: URL) throws -> URL {
        if let given = ProcessInfo.processInfo.environment["BOXOFFICE_BINARIES"] { return URL(fileURLWithPath: given) }
        return checkout.appendingPathComponent(".build/debug")
    }

    private init(_ other: TestCluster, exchange: HTTPExchange) {
        (starter, ports, upstream, clock) = (other.starter, other.ports, other.upstream, other.clock)
        self.exchange = exchange
    }

    /// The same cluster, asked over other connections.
    func asked(over exchange: HTTPExchange) -> TestCluster { TestCluster(self, exchange: exchange) }

    /// Verifies the cluster's media tokens; of a bridge also its upstream's.
    func mediaTokenKeys() throws -> TrustedMediaTokenKeys {
        let file = try #require(try ClusterFile.read(home))
        return try MediaTokenKeys.trusted(certificates: try String(contentsOfFile: file.mediaTokenCertificate, encoding: .utf8), jwks: nil)
    }

    func process(_ service: ClusterService) throws -> ServiceProcess {
        let file = try #require(try ClusterFile.read(home))
        return ServiceProcess(service: service, pid: try #require(file.processIDs[service]))
    }

    func stop() async throws {
        guard let file = try ClusterFile.read(home) else { return }
        let killed = await ClusterStopper.stop(file.processes)
        #expect(killed.isEmpty, "every service stops when asked to")
        starter.stores.stop()
    }

    func removeState() { try? FileManager.default.removeItem(at: home.root) }

    /// An app of `acme` on a new device, registered and with an access token.
    func app(requestor: String = "ACME1", deviceID: String = UUID().uuidString) async throws -> StreamingApp {
        let file = try #require(try ClusterFile.read(home))
        var app = StreamingApp(exchange: exchange, gateway: gateway, requestor: requestor, deviceID: deviceID)
        try await app.register(statement: try #require(file.softwareStatements["acme-tv"]))
        return app
    }

    /// A simulated person signs the device in with a code.
    func signIn(_ app: StreamingApp, code: String, as name: String = "ada", at mvpd: String = "NorthCable") async throws -> String {
        let end = "\(gateway)/activate/done"
        let query = FormEncoding.encode([
            ("reg_code", code), ("requestor_id", app.requestor), ("mso_id", mvpd), ("domain_name", "acme.example"), ("noflash", "true"),
            ("redirect_url", "\(end)?code=\(code)&requestor=\(app.requestor)"),
        ])
        var person = SimulatedPerson(exchange: exchange)
        return try await person.signIn(at: "\(gateway)/api/v1/authenticate?\(query)", name: name, password: name, until: end)
    }
}

/// Finds room for the port plan of one cluster.
enum FreePorts {
    /// `BOXOFFICE_TEST_PORTS=FROM-TO`, so that test runs beside each other do not race for a port.
    private static let range: ClosedRange<Int> = {
        let ends = (ProcessInfo.processInfo.environment["BOXOFFICE_TEST_PORTS"] ?? "").split(separator: "-").compactMap { Int($0) }
        return ends.count == 2 && ends[0] < ends[1] ? ends[0]...ends[1] : 22_000...31_000
    }()

    /// A base such that base to base + 49 are free now: the ports of a cluster, and of second copies of its services (`PortPlan`).
    static func base() throws -> Int {
        for _ in 0..<50 {
            let candidate = Int.random(in: range)
            if (0...49).allSatisfy({ isFree(candidate + $0) }) { return candidate }
        }
        throw CommandFailure("no free ports")
    }

    private static func isFree(_ port: Int) -> Bool {
        guard let listener = try? Listener(port: port) else { return false }
        listener.close()
        return true
    }
}

/// A bound, listening socket on loopback.
struct Listener {
    private let descriptor: Int32

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        guard status == 0, listen(descriptor, 8) == 0 else {
            Glibc.close(descriptor)
            throw CommandFailure("port \(port) is taken")
        }
    }

    func close() { Glibc.close(descriptor) }
}
