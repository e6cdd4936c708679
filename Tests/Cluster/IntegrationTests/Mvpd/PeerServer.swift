@testable import ClusterCommands
@testable import CommandKit
import Clocks
import Cryptography
import CSpawn
import Foundation
import Testing

/// An independent identity provider, running on loopback with keys and a folder of its own.
struct PeerServer: Sendable {
    enum Kind: String, CustomTestStringConvertible, Sendable {
        case pysaml2
        case simpleSAMLphp
        case lasso
        /// An OpenID provider.
        case glewlwyd

        var testDescription: String { rawValue }

        /// True when its Debian packages are there.
        var isInstalled: Bool {
            switch self {
            case .pysaml2: (try? Program.run("/usr/bin/python3", ["-c", "import saml2"]).status) == 0
            case .lasso: (try? Program.run("/usr/bin/python3", ["-c", "import lasso"]).status) == 0
            case .glewlwyd:
                ["/usr/bin/glewlwyd", "/usr/share/doc/glewlwyd/database/init.sqlite3.sql.gz"].allSatisfy(FileManager.default.fileExists(atPath:))
            case .simpleSAMLphp: ["/usr/share/simplesamlphp/www/module.php", "/usr/bin/php"].allSatisfy(FileManager.default.fileExists(atPath:))
            }
        }

        static var areSamlPeersInstalled: Bool { pysaml2.isInstalled && simpleSAMLphp.isInstalled && lasso.isInstalled }

        /// Where it describes itself.
        fileprivate var metadataPath: String {
            switch self {
            case .pysaml2, .lasso: "/metadata"
            case .simpleSAMLphp: "/simplesaml/saml2/idp/metadata.php"
            case .glewlwyd: "/api/op/.well-known/openid-configuration"
            }
        }
    }

    let kind: Kind
    let address: String
    private let pid: pid_t
    private let folder: URL
    /// The secret of the client `boxoffice` at the OpenID provider.
    static let clientSecret = "a-secret-of-the-tests-0123456789"
    /// The server ends by itself after that many seconds, even if the tests hang.
    private static let bound = "120"

    /// Starts it with the service provider's metadata for a requestor.
    static func start(_ kind: Kind, _ variant: PeerVariant, requestor: String = "ACME1", mvpd: String = "") async throws -> PeerServer {
        let cluster = try TestCluster.running()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-peer-\(UUID().uuidString.prefix(8))")
        for name in ["sessions", "temporary", "www"] {
            try FileManager.default.createDirectory(at: folder.appendingPathComponent(name), withIntermediateDirectories: true)
        }
        let now = SystemClock().now()
        let validity = CertificateValidity(notBefore: now - .seconds(1000), notAfter: now + .seconds(86_400))
        let own = try CertifiedKey.selfSigned(commonName: "idp.harbor.example", key: .rsa(.generate()), validity: validity)
        let metadata = try await cluster.send(Call("GET", "/sp/metadata", query: ["requestor": requestor]))
        let port = try FreePorts.one()
        let address = "http://127.0.0.1:\(port)"
        let files = [
            "idp.key": Data(try own.key.pem().utf8), "idp.crt": Data(try own.certificate.pem().utf8), "sp.xml": Data(metadata.body),
            "settings.json": try variant.json(adding: ["address": address, "salt": UUID().uuidString]),
        ]
        for (name, content) in files { try content.write(to: folder.appendingPathComponent(name)) }
        let sources = cluster.starter.checkout.appendingPathComponent("Tests/Cluster/Peers")
        let command = try Self.command(kind, variant, mvpd: mvpd, folder: folder, sources: sources, port: port)
        let pid = try spawn(["timeout", "--kill-after=5", bound] + command, folder: folder, sources: sources)
        let server = PeerServer(kind: kind, address: address, pid: pid, folder: folder)
        try await Condition.wait("\(kind) answers", within: .seconds(20)) {
            // The server may not listen yet, or may not have reported its failure yet.
            (try? await cluster.exchange.send("GET", address + kind.metadataPath))?.status == 200
        }
        return server
    }

    private static func command(_ kind: Kind, _ variant: PeerVariant, mvpd: String, folder: URL, sources: URL, port: Int) throws -> [String] {
        switch kind {
        case .glewlwyd:
            let program = sources.appendingPathComponent("glewlwyd/provider.py").path
            let callback = "\(try TestCluster.running().gateway)/adobe-services/oauth2/\(mvpd)"
            return ["/usr/bin/python3", program, folder.path, "\(port)", callback, Self.clientSecret]
        case .pysaml2, .lasso:
            let program = sources.appendingPathComponent("\(kind.rawValue)/identity_provider.py").path
            return ["/usr/bin/python3", program, folder.path, "\(port)", String(decoding: try variant.json(), as: UTF8.self)]
        case .simpleSAMLphp:
            let root = folder.appendingPathComponent("www")
            try FileManager.default.createSymbolicLink(
                atPath: root.appendingPathComponent("simplesaml").path, withDestinationPath: "/usr/share/simplesamlphp/www")
            return ["/usr/bin/php", "-d", "display_errors=0", "-S", "127.0.0.1:\(port)", "-t", root.path]
        }
    }

    private static func spawn(_ command: [String], folder: URL, sources: URL) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, folder.appendingPathComponent("output").path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
        cspawn_close_from(&actions, STDERR_FILENO + 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A signal that this program ignores or blocks must end the server.
        var (all, none) = (sigset_t(), sigset_t())
        sigfillset(&all)
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        let additions = ["PEER_FOLDER": folder.path, "SIMPLESAMLPHP_CONFIG_DIR": sources.appendingPathComponent("simplesamlphp").path]
        let environment = ProcessInfo.processInfo.environment.merging(additions) { $1 }.map { "\($0.key)=\($0.value)" }
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
        defer { (arguments + variables).forEach { free($0) } }
        var pid: pid_t = 0
        try #require(posix_spawn(&pid, "/usr/bin/timeout", &actions, &attributes, &arguments, &variables) == 0)
        return pid
    }

    /// Its metadata, as it writes them itself.
    func metadata() async throws -> String {
        let answer = try await TestCluster.running().exchange.send("GET", address + kind.metadataPath)
        try #require(answer.status == 200, "\(answer.text)")
        return answer.text
    }

    /// The output and log.
    var log: String {
        ["output", "simplesamlphp.log"].compactMap { try? String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }.joined()
    }

    func stop() async throws {
        kill(pid, SIGTERM)
        var status: Int32 = 0
        try await Condition.wait("\(kind) has ended") { waitpid(pid, &status, WNOHANG) == pid }
        try FileManager.default.removeItem(at: folder)
    }
}

extension FreePorts {
    /// A port that is free now.
    static func one() throws -> Int {
        for _ in 0..<50 {
            let candidate = Int.random(in: 31_100...32_700)
            if let listener = try? Listener(port: candidate) {
                listener.close()
                return candidate
            }
        }
        throw CommandFailure("no free port")
    }
}
