internal import Foundation
public import PrivatePostgres
public import StoragePostgres

/// A server with a standby that confirms each commit.
public struct ReplicatedServer: Sendable {
    public let primary: PostgresServer
    public let standby: PrivatePostgres
    private let life: Int32

    /// Blocks.
    public init() throws {
        let primary = try PostgresServer(settings: ["wal_level = replica", "max_wal_senders = 4"])
        guard let programs = PrivatePostgres.installed else { throw PrivatePostgres.Failure(description: "\(PostgresServer.absence)") }
        let folder = primary.server.folder.deletingLastPathComponent().appendingPathComponent("boxoffice-standby-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let standby = PrivatePostgres(folder: folder, port: PostgresServer.freePort(), programs: programs)
        let copy = [
            programs.appendingPathComponent("pg_basebackup").path, "-h", primary.server.folder.path, "-p", "\(primary.server.port)", "-U", "postgres",
            "-D", folder.appendingPathComponent("data").path, "-R", "-X", "stream", "-c", "fast",
        ]
        if getuid() == 0 {
            try Self.run("/usr/bin/chown", ["postgres", folder.path])
            try Self.run("/usr/bin/setpriv", ["--reuid=postgres", "--regid=postgres", "--init-groups"] + copy)
        } else {
            try Self.run(copy[0], Array(copy.dropFirst()))
        }
        try standby.append(["port = \(standby.port)", "unix_socket_directories = '\(folder.path)'"], to: "postgresql.conf")
        life = try standby.endWithThisProcess()
        try standby.start()
        (self.primary, self.standby) = (primary, standby)
        // Only here: a standby that is promoted waits for nobody.
        try primary.server.append(["synchronous_standby_names = '*'"], to: "postgresql.conf")
        try primary.server.reload()
    }

    /// For a store that finds whichever of both is the primary.
    public func options() -> PostgresOptions {
        var options = primary.options()
        options.hosts.append(.init(name: standby.folder.path, port: UInt16(standby.port)))
        return options
    }

    /// The primary dies as when the power fails, and the standby takes its place. Blocks.
    public func failOver() throws {
        try primary.server.stop(isKilled: true)
        _ = try standby.run(sql: "SELECT pg_promote()")
    }

    public func end() {
        try? primary.server.stop(isKilled: true)
        close(life)
    }

    private static func run(_ program: String, _ arguments: [String]) throws {
        let process = Process()
        (process.executableURL, process.arguments) = (URL(fileURLWithPath: program), arguments)
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw PrivatePostgres.Failure(description: "\(program) failed") }
    }
}
