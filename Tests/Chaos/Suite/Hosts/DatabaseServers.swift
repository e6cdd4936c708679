import CommandKit
import Foundation
import Glibc
import PrivatePostgres
import Synchronization

/// PostgreSQL servers, one of which is the primary and waits with each commit for one of the others. They are built, failed over and brought back by the lines of the guide.
final class DatabaseServers: Sendable {
    struct Server: Sendable, Equatable {
        /// As the primary knows its standby.
        let name: String
        let host: HostNetwork.Host
        let data: String

        /// The folder of the socket there.
        var socket: String { "\(data)-socket" }
        var log: String { "\(data).log" }

        var place: String { "\(host.address):5432" }
    }

    let servers: [Server]
    let guide: GuidePage
    private let primary = Mutex(0)
    private let folder: URL
    /// To whom a server's certificate is trusted, and so are they to each other.
    var trustAnchor: URL { folder.appendingPathComponent("ca.crt") }
    private let programs: String
    private static let password = String(UInt64.random(in: .min ... .max), radix: 36)
    /// Where Debian's server has its socket: each server sees a folder of its own there.
    private static let sockets = "/run/postgresql"

    /// Why there can be none here; `nil` when there can.
    static func obstacle() -> String? { PrivatePostgres.installed == nil ? "PostgreSQL is not installed: apt-get install postgresql" : nil }

    /// Makes them and starts them.
    /// - Parameter guide: Says how.
    /// - Throws: `ChaosFailure`.
    init(folder: URL, hosts: [HostNetwork.Host], guide: GuidePage) throws {
        guard let programs = PrivatePostgres.installed?.path else { throw ChaosFailure("PostgreSQL is not installed") }
        (self.folder, self.programs, self.guide) = (folder, programs, guide)
        servers = hosts.map { Server(name: $0.name.replacing("-", with: "_"), host: $0, data: folder.appendingPathComponent($0.name).path) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        try FileManager.default.createDirectory(atPath: Self.sockets, withIntermediateDirectories: true)
        for server in servers { try FileManager.default.createDirectory(atPath: server.socket, withIntermediateDirectories: false) }
        try Tool.run(["chown", "postgres", folder.path] + servers.map(\.socket))
        try issueCertificate()
        try makePrimary()
        for standby in servers.dropFirst() { try makeStandby(standby) }
    }

    var primaryServer: Server { servers[primary.withLock { $0 }] }

    /// The words of the guide here; servers change their places with each fail-over.
    var table: [String] {
        [
            "the guide's words here: db-a, db-b, db-c are \(servers.map { "\($0.host.name) at \($0.host.address)" }.joined(separator: ", "));",
            "in a fail-over db-a is the one that went, db-b the one that is promoted; DATA is \(folder.path)/SERVER, LOG SERVER.log beside it,",
            "/etc/postgresql is \(folder.path), SECRET a password of this run, OUT a copy of the folder that `boxoffice settings` wrote",
        ]
    }

    // MARK: The guide

    /// Where the commands of the page are.
    private static let (database, failover) = ("The database", "Fail over")

    /// Headings whose every line is followed, where all faults are tried.
    static let followed = [database, failover]

    /// The guide's words as they are here.
    /// - Parameters:
    ///   - server: Where they count.
    ///   - cast: The servers that are `db-a`, `db-b` and `db-c`.
    private func localized(_ text: String, at server: Server, _ cast: [Server], out: String) -> String {
        text.replacing(/\b(DATA|LOG|SECRET|OUT|db[-_][abc])\b/.wordBoundaryKind(.simple)) { match -> String in
            switch match.1 {
            case "DATA": server.data
            case "LOG": server.log
            case "SECRET": Self.password
            case "OUT": out
            case "db_a": cast[0].name
            case "db_b": cast[1].name
            case "db_c": cast[2].name
            case "db-a": cast[0].host.name
            case "db-b": cast[1].host.name
            default: cast[2].host.name
            }
        }.replacing("/etc/postgresql/", with: "\(folder.path)/")
    }

    /// Runs a line of the guide at a server, as its owner.
    /// - Parameter beginning: The beginning of the line.
    /// - Returns: The output.
    @discardableResult
    private func run(_ beginning: String, under heading: String, at server: Server, _ cast: [Server], out: String = "") throws -> String {
        try shell(localized(try guide.line(beginning, under: heading), at: server, cast, out: out), at: server)
    }

    /// Runs what a shell takes at a server, as its owner.
    @discardableResult
    private func shell(_ line: String, at server: Server) throws -> String {
        let words = [
            "/bin/bash", "-c",
            #"mount --bind "$1" "$2" && cd "$1" && exec /usr/sbin/runuser -u postgres -- env HOME="$1" PATH="$3:$PATH" bash -c "$4""#, "-",
            server.socket, Self.sockets, programs, line,
        ]
        return try Tool.run(server.host.wrapper + words)
    }

    // MARK: Making them

    private func issueCertificate() throws {
        let names = servers.map { "IP:\($0.host.address),DNS:\($0.host.name)" }.joined(separator: ",")
        try Tool.run([
            "runuser", "-u", "postgres", "--", "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
            "2",
            "-subj", "/CN=database", "-addext", "subjectAltName=\(names)", "-keyout", folder.appendingPathComponent("server.key").path, "-out",
            folder.appendingPathComponent("server.crt").path,
        ])
        try FileManager.default.copyItem(at: folder.appendingPathComponent("server.crt"), to: trustAnchor)
    }

    private func makePrimary() throws {
        let server = servers[0]
        try shell("initdb -D \(server.data) -U postgres --auth-local=trust --auth-host=scram-sha-256 -E UTF8", at: server)
        for (beginning, file) in [("listen_addresses", "postgresql.conf"), ("hostssl all", "pg_hba.conf")] {
            let lines = try guide.block(beginning, under: Self.database).map { localized($0, at: server, servers, out: "") }
            try append(lines.joined(separator: "\n") + "\n", to: "\(server.data)/\(file)")
        }
        try start(server)
        try run("psql -c \"SET", under: Self.database, at: server, servers)
        try run("umask", under: Self.database, at: server, servers)
    }

    private func makeStandby(_ standby: Server) throws {
        // The page shows it for db-b.
        let cast = [servers[0], standby] + servers.dropFirst().filter { $0 != standby }
        for line in ["umask", "pg_basebackup", "pg_ctl"] { try run(line, under: Self.database, at: standby, cast) }
    }

    private func append(_ text: String, to file: String) throws {
        let before = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        try Data((before + text).utf8).write(to: URL(fileURLWithPath: file))
        try Tool.run(["chown", "postgres", file])
    }

    // MARK: Use

    /// Runs a command of a guide at the primary's host, as the servers' administrator, whose password psql does not ask for.
    func run(command: String) throws {
        let environment = ["PGPASSWORD=\(Self.password)", "PGSSLMODE=verify-full", "PGSSLROOTCERT=\(trustAnchor.path)"]
        try Tool.run(primaryServer.host.wrapper + ["env"] + environment + ["/bin/bash", "-ec", command])
    }

    func start(_ server: Server) throws {
        do {
            try run("pg_ctl", under: Self.database, at: server, servers)
        } catch {
            let said = (try? String(contentsOfFile: server.log, encoding: .utf8))?.split(separator: "\n").suffix(4).joined(separator: "; ")
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
        for server in servers { _ = try? shell("pg_ctl -D \(server.data) -m immediate stop", at: server) }
        try? FileManager.default.removeItem(at: folder)
    }

    /// Makes the standby the primary that has received most; the other one follows it.
    /// - Precondition: The primary is away.
    func failOver() throws {
        let former = primary.withLock { $0 }
        let standbys = servers.indices.filter { $0 != former }
        let received = try standbys.map { index in
            (index, Int(try run("psql -At -c \"SELECT pg_wal_lsn_diff", under: Self.failover, at: servers[index], servers)) ?? 0)
        }
        guard let best = received.max(by: { $0.1 < $1.1 })?.0 else { throw ChaosFailure("there is no standby") }
        let cast = roles(former: servers[former], promoted: servers[best])
        try run("pg_ctl -D DATA -w promote", under: Self.failover, at: servers[best], cast)
        for line in ["psql -c \"ALTER SYSTEM", "psql -c \"SELECT pg_reload_conf"] { try run(line, under: Self.failover, at: cast[2], cast) }
        primary.withLock { $0 = best }
    }

    private func roles(former: Server, promoted: Server) -> [Server] { [former, promoted] + servers.filter { $0 != former && $0 != promoted } }

    /// The former primary comes back as a standby of the present one, which waits for it as for any other.
    func rejoin(_ former: Server) async throws {
        let cast = roles(former: former, promoted: primaryServer)
        for line in ["psql -h db-b -c CHECKPOINT", "pg_rewind", "pg_ctl -D DATA -l"] { try run(line, under: Self.failover, at: former, cast) }
        let expected = cast.filter { $0 != cast[1] }.map(\.name).sorted().joined(separator: "\n")
        var found = ""
        try await Wait.until(
            "both standbys (\(expected.replacing("\n", with: ", "))) confirm commits", within: .seconds(20), every: .milliseconds(200)
        ) {
            found = (try? run("psql -h db-b -At", under: Self.failover, at: former, cast)) ?? ""
            return found == expected
        }
    }
}
