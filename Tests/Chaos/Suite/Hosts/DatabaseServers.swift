import BoxofficeCommand
import Foundation
import Glibc
import PrivatePostgres
import Synchronization

/// PostgreSQL servers, one of which is the primary and waits with each commit for one of the others.
final class DatabaseServers: Sendable {
    struct Server: Sendable {
        /// As the primary knows its standby.
        let name: String
        let host: HostNetwork.Host
        let data: String

        /// Folder of its socket.
        var socket: String { "\(data)-socket" }

        var place: String { "\(host.address):5432" }
    }

    let servers: [Server]
    private let primary = Mutex(0)
    private let folder: URL
    /// To whom a server's certificate is trusted, and so are they to each other.
    var trustAnchor: URL { folder.appendingPathComponent("server.crt") }
    private let programs: String
    private static let password = String(UInt64.random(in: .min ... .max), radix: 36)

    /// Why there can be none here; `nil` when there can.
    static func obstacle() -> String? { PrivatePostgres.installed == nil ? "PostgreSQL is not installed: apt-get install postgresql" : nil }

    /// Makes them and starts them.
    /// - Throws: `ChaosFailure`.
    init(folder: URL, hosts: [HostNetwork.Host]) throws {
        guard let programs = PrivatePostgres.installed?.path else { throw ChaosFailure("PostgreSQL is not installed") }
        self.folder = folder
        self.programs = programs
        servers = hosts.map { Server(name: $0.name.replacing("-", with: "_"), host: $0, data: folder.appendingPathComponent($0.name).path) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        for server in servers { try FileManager.default.createDirectory(atPath: server.socket, withIntermediateDirectories: false) }
        try Tool.run(["chown", "postgres", folder.path] + servers.map(\.socket))
        try issueCertificate()
        try makePrimary()
        for standby in servers.dropFirst() { try makeStandby(standby) }
    }

    var primaryServer: Server { servers[primary.withLock { $0 }] }

    /// The words by which a program of PostgreSQL runs at a server, as its owner.
    private func at(_ server: Server, _ program: String, _ arguments: [String]) -> [String] {
        server.host.wrapper + ["/usr/sbin/runuser", "-u", "postgres", "--", "\(programs)/\(program)"] + arguments
    }

    private func issueCertificate() throws {
        let names = servers.map { "IP:\($0.host.address)" }.joined(separator: ",")
        try Tool.run([
            "runuser", "-u", "postgres", "--", "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
            "2",
            "-subj", "/CN=database", "-addext", "subjectAltName=\(names)", "-keyout", folder.appendingPathComponent("server.key").path, "-out",
            trustAnchor.path,
        ])
    }

    private func makePrimary() throws {
        let server = servers[0]
        try Tool.run(at(server, "initdb", ["-D", server.data, "-U", "postgres", "--auth-local=trust", "--auth-host=scram-sha-256", "-E", "UTF8"]))
        let standbys = servers.map(\.name).joined(separator: ", ")
        let settings = """
            ssl = on
            ssl_cert_file = '\(trustAnchor.path)'
            ssl_key_file = '\(folder.path)/server.key'
            max_connections = 200
            shared_buffers = 128MB
            wal_log_hints = on
            wal_keep_size = 256MB
            hot_standby = on
            wal_sender_timeout = 5s
            wal_receiver_timeout = 5s
            wal_retrieve_retry_interval = 200ms
            synchronous_standby_names = 'ANY 1 (\(standbys))'
            """
        try append(settings + "\n", to: "\(server.data)/postgresql.conf")
        try append("hostssl all all 10.0.0.0/8 scram-sha-256\nhostssl replication all 10.0.0.0/8 scram-sha-256\n", to: "\(server.data)/pg_hba.conf")
        try own(server)
        try start(server)
        // Nobody waits for a standby that is not there yet.
        try sql(
            """
            SET synchronous_commit = local;
            ALTER ROLE postgres PASSWORD '\(Self.password)';
            """, at: server)
    }

    private func makeStandby(_ standby: Server) throws {
        let address = primaryServer.host.address
        try Tool.run(
            at(standby, "pg_basebackup", ["-D", standby.data, "-R", "-X", "stream", "-c", "fast", "-d", conninfo(address, name: standby.name)]))
        try own(standby)
        try start(standby)
    }

    private func conninfo(_ address: String, name: String) -> String {
        "host=\(address) port=5432 user=postgres password=\(Self.password) application_name=\(name) sslmode=verify-full sslrootcert=\(trustAnchor.path)"
    }

    /// Each server listens at its host and in its folder alone.
    private func own(_ server: Server) throws {
        let file = "\(server.data)/postgresql.auto.conf"
        let kept = ((try? String(contentsOfFile: file, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init).filter { line in
            !line.hasPrefix("listen_addresses") && !line.hasPrefix("unix_socket_directories")
        }
        let own = ["listen_addresses = '\(server.host.address)'", "unix_socket_directories = '\(server.socket)'"]
        let text = (kept + own).joined(separator: "\n") + "\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        try Tool.run(["chown", "postgres", file])
    }

    private func append(_ text: String, to file: String) throws {
        let before = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        try Data((before + text).utf8).write(to: URL(fileURLWithPath: file))
        try Tool.run(["chown", "postgres", file])
    }

    // MARK: Use

    /// Makes roles and databases.
    func prepare(script: URL) throws {
        try sql("SET synchronous_commit = local;\n" + String(contentsOf: script, encoding: .utf8), at: primaryServer)
    }

    func start(_ server: Server) throws {
        do {
            try Tool.run(at(server, "pg_ctl", ["-D", server.data, "-l", "\(server.data).log", "-w", "-t", "30", "start"]))
        } catch {
            let said = (try? String(contentsOfFile: "\(server.data).log", encoding: .utf8))?.split(separator: "\n").suffix(4).joined(separator: "; ")
            throw ChaosFailure("\(error): \(said ?? "it said nothing")")
        }
    }

    /// Ends the server's processes at once, as a machine that goes dark does.
    func kill(_ server: Server) throws {
        let pid = try String(contentsOfFile: "\(server.data)/postmaster.pid", encoding: .utf8).split(separator: "\n").first.flatMap { Int32($0) }
        guard let pid else { throw ChaosFailure("the server at \(server.host.name) does not run") }
        let children = (try? Tool.run(["pgrep", "-P", "\(pid)"]))?.split(separator: "\n").compactMap { Int32($0) } ?? []
        for process in [pid] + children { Glibc.kill(process, SIGKILL) }
        // Where nobody collects it, a dead process still counts as one that runs.
        try FileManager.default.removeItem(atPath: "\(server.data)/postmaster.pid")
        try FileManager.default.removeItem(atPath: "\(server.socket)/.s.PGSQL.5432.lock")
    }

    func stop() {
        for server in servers { _ = try? Tool.run(at(server, "pg_ctl", ["-D", server.data, "-m", "immediate", "stop"])) }
        try? FileManager.default.removeItem(at: folder)
    }

    @discardableResult
    func sql(_ text: String, at server: Server) throws -> String {
        try Tool.run(
            server.host.wrapper + [
                "env", "PGPASSWORD=\(Self.password)", "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", server.socket, "-U", "postgres",
                "-d", "postgres", "-f", "-",
            ], input: text)
    }

    /// Makes the standby the primary that has received most; the other one follows it.
    /// - Precondition: The primary is away.
    func failOver() throws {
        let former = primary.withLock { $0 }
        let standbys = servers.indices.filter { $0 != former }
        let received = try standbys.map { index in
            (index, try sql("SELECT pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')::bigint", at: servers[index]))
        }
        guard let best = received.max(by: { (Int($0.1) ?? 0) < (Int($1.1) ?? 0) })?.0 else { throw ChaosFailure("there is no standby") }
        try Tool.run(at(servers[best], "pg_ctl", ["-D", servers[best].data, "-w", "promote"]))
        for index in standbys where index != best { try follow(servers[best], servers[index]) }
        primary.withLock { $0 = best }
    }

    private func follow(_ primary: Server, _ standby: Server) throws {
        try sql(
            "ALTER SYSTEM SET primary_conninfo = '\(conninfo(primary.host.address, name: standby.name))'; SELECT pg_reload_conf();", at: standby)
    }

    /// The former primary comes back as a standby of the present one.
    func rejoin(_ former: Server) throws {
        let address = primaryServer.host.address
        // Only then its files say that it has a timeline of its own.
        try sql("CHECKPOINT", at: primaryServer)
        try Tool.run(at(former, "pg_rewind", ["-D", former.data, "--source-server", conninfo(address, name: "rewind") + " dbname=postgres", "-R"]))
        let text = "primary_conninfo = '\(conninfo(address, name: former.name))'\n"
        try append(text, to: "\(former.data)/postgresql.auto.conf")
        try own(former)
        try start(former)
    }
}
