internal import CSpawn
public import Foundation
internal import Glibc

/// A PostgreSQL server in a folder of its own, from the programs of Debian's package `postgresql`. It listens on a socket in the folder, which only
/// its owner and root may enter. It also listens on the machine's own address, with a password.
public struct PrivatePostgres: Sendable {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String

        public init(description: String) { self.description = description }
    }

    /// The folder of the socket; the rows are in `data`.
    public let folder: URL
    public let port: Int
    private let programs: URL

    /// The user who runs the server, as it refuses to run as root.
    private static let user = "postgres"

    private var rows: URL { folder.appendingPathComponent("data") }
    private var log: URL { folder.appendingPathComponent("log") }

    /// The newest of the installed servers has its programs here; `nil`: none is installed.
    public static var installed: URL? {
        let versions = URL(fileURLWithPath: "/usr/lib/postgresql")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: versions.path)) ?? []
        return names.compactMap { Int($0) }.filter { $0 >= 13 }.sorted(by: >).map { versions.appendingPathComponent("\($0)/bin") }
            .first { FileManager.default.isExecutableFile(atPath: $0.appendingPathComponent("postgres").path) }
    }

    /// - Parameters:
    ///   - folder: Made when it is absent; the path of the socket in it must have less than 108 octets.
    ///   - programs: As `installed` says.
    public init(folder: URL, port: Int, programs: URL) {
        self.folder = folder
        self.port = port
        self.programs = programs
    }

    /// Checks that whoever runs the server may enter the folder that its folder is in: it must not be root's alone.
    /// - Throws: `Failure`.
    public func requireAccess() throws {
        let parent = folder.deletingLastPathComponent()
        // Its name may be told; what is in it has modes of its own.
        if getuid() == 0 { try FileManager.default.setAttributes([.posixPermissions: 0o711], ofItemAtPath: parent.path) }
        do {
            try run("/usr/bin/test", ["-x", parent.path])
        } catch {
            throw Failure(description: "the user \(Self.user), who runs it for root, may not enter \(parent.path)")
        }
    }

    /// The users whom the socket lets in.
    public enum Access: Sendable {
        /// The user who started the server, and root, as the server's owner, which the system proves (`peer`).
        case owner
        /// The same two, as any role: for tests.
        case ownerAsAnyRole
    }

    private var isMade: Bool { FileManager.default.fileExists(atPath: rows.appendingPathComponent("PG_VERSION").path) }

    /// Makes the folder with an empty server, unless it is there. One that is there is closed to others, as those of earlier releases were not.
    /// - Parameter settings: Lines of `postgresql.conf`, beside what this server is.
    /// - Throws: `Failure`.
    public func make(settings: [String] = [], access: Access = .owner) throws {
        guard !isMade else { return try closeToOthers(but: access) }
        guard folder.appendingPathComponent(".s.PGSQL.65535.lock").path.utf8.count < 108 else {
            throw Failure(description: "the path \(folder.path) is too long for a socket")
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        if getuid() == 0 { try run("/usr/bin/chown", [Self.user, folder.path], asRoot: true) }
        try run(
            programs.appendingPathComponent("initdb").path,
            [
                "-D", rows.path, "-U", Self.user, "-E", "UTF8", "--no-locale", "-A", "scram-sha-256", "--auth-local=peer", "--no-sync",
                "--wal-segsize=16",
            ])
        let lines =
            [
                "unix_socket_directories = '\(folder.path)'", "listen_addresses = '127.0.0.1'", "port = \(port)", "logging_collector = off",
                "password_encryption = scram-sha-256", "max_connections = 200",
            ] + settings
        try append(lines, to: "postgresql.conf")
        try closeToOthers(but: access)
    }

    /// Lets only its owner and root in by the socket. From the machine's own address a password is needed, and nobody comes in from elsewhere. This
    /// also holds while the server runs, whatever an earlier release wrote.
    /// - Throws: `Failure`, and errors of the file system.
    public func closeToOthers(but access: Access = .owner) throws {
        // The folder first: whoever may not enter it meets no socket.
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
        let local = access == .owner ? "local all \(Self.user) peer map=owner" : "local all all trust"
        try write(
            """
            # Written anew at each start of the cluster.
            \(local)
            host all all 127.0.0.1/32 scram-sha-256
            host all all ::1/128 scram-sha-256
            local replication all \(access == .owner ? "peer map=owner" : "trust")

            """, to: "pg_hba.conf")
        let owners = Set([Self.user, "root", Self.ownName]).sorted()
        try write(owners.map { "owner \($0) \(Self.user)\n" }.joined(), to: "pg_ident.conf")
        let settings = rows.appendingPathComponent("postgresql.conf")
        let text = try String(contentsOf: settings, encoding: .utf8)
        if !text.split(separator: "\n").contains("unix_socket_permissions = 0700") {
            try append(["unix_socket_permissions = 0700"], to: "postgresql.conf")
        }
        guard pid != nil else { return }
        // The server sets them only when it starts.
        let socket = folder.appendingPathComponent(".s.PGSQL.\(port)").path
        if FileManager.default.fileExists(atPath: socket) {
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: socket)
        }
        try reload()
    }

    /// The name of the user who runs this program.
    private static var ownName: String { getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) } ?? user }

    /// Adds lines to one of the server's files, which it reads when it starts.
    public func append(_ lines: [String], to file: String) throws {
        let handle = try FileHandle(forWritingTo: rows.appendingPathComponent(file))
        defer { try? handle.close() }
        try handle.seekToEnd()
        try handle.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
    }

    /// Puts a file beside the rows, which the server alone may read.
    /// - Returns: Its path.
    @discardableResult
    public func write(_ content: String, to file: String) throws -> String {
        let path = rows.appendingPathComponent(file).path
        guard FileManager.default.createFile(atPath: path, contents: Data(content.utf8), attributes: [.posixPermissions: 0o600]) else {
            throw Failure(description: "cannot write \(path)")
        }
        if getuid() == 0 { try run("/usr/bin/chown", [Self.user, path], asRoot: true) }
        return path
    }

    /// The process of the server that runs; `nil`: none does.
    public var pid: Int32? {
        guard let pid = named,
            // One that was killed leaves its file behind; its number may be another program's by now.
            let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe"),
            URL(fileURLWithPath: program).lastPathComponent == "postgres"
        else { return nil }
        return pid
    }

    /// The process that the server's file names.
    private var named: Int32? {
        let text = try? String(contentsOf: rows.appendingPathComponent("postmaster.pid"), encoding: .utf8)
        return text?.split(separator: "\n").first.flatMap { Int32($0) }
    }

    /// A server that was killed counts as one that runs, until its parent has collected it.
    private func waitUntilCollected() {
        guard let dead = named, pid == nil else { return }
        for _ in 0..<250 {
            let state = (try? String(contentsOfFile: "/proc/\(dead)/stat", encoding: .utf8))?.split(separator: ")").last?.split(separator: " ").first
            guard state == "Z" else { return }
            usleep(20_000)
        }
    }

    /// Starts the server, unless it runs, and waits until it lets somebody in.
    /// - Throws: `Failure` with what the server said.
    public func start() throws {
        guard pid == nil else { return }
        waitUntilCollected()
        do {
            try run(programs.appendingPathComponent("pg_ctl").path, ["-D", rows.path, "-l", log.path, "-w", "-t", "30", "start"])
        } catch {
            let said = (try? String(contentsOf: log, encoding: .utf8))?.split(separator: "\n").suffix(3).joined(separator: "; ")
            throw Failure(description: said ?? "\(error)")
        }
    }

    /// - Parameter isKilled: Without an orderly end, as when the power fails.
    public func stop(isKilled: Bool = false) throws {
        guard pid != nil else { return }
        try run(programs.appendingPathComponent("pg_ctl").path, ["-D", rows.path, "-m", isKilled ? "immediate" : "fast", "-w", "stop"])
    }

    /// Lets the server read its files again.
    public func reload() throws { try run(programs.appendingPathComponent("pg_ctl").path, ["-D", rows.path, "reload"]) }

    /// Runs statements as the server's owner.
    /// - Returns: The output of the statements.
    @discardableResult
    public func run(sql: String, database: String = "postgres") throws -> String {
        try run(
            programs.appendingPathComponent("psql").path,
            ["-h", folder.path, "-p", "\(port)", "-U", Self.user, "-d", database, "-v", "ON_ERROR_STOP=1", "-X", "-q", "-t", "-A", "-c", sql])
    }

    /// Ends the server and removes the folder when this process has ended, or closes the descriptor that is returned.
    public func endWithThisProcess() throws -> Int32 {
        let end = """
            cat >/dev/null; pid=$(head -n 1 "$1/data/postmaster.pid"); kill -QUIT "$pid"; while kill -0 "$pid"; do sleep 0.1; done; rm -rf "$1"
            """
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure(description: "no descriptors are left") }
        defer { close(ends[0]) }
        _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
        _ = try spawn("/bin/sh", ["-c", end, "sh", folder.path], input: ends[0], output: nil)
        return ends[1]
    }

    @discardableResult
    private func run(_ program: String, _ arguments: [String], asRoot: Bool = false) throws -> String {
        let isChanged = getuid() == 0 && !asRoot
        let whole = isChanged ? ["--reuid=\(Self.user)", "--regid=\(Self.user)", "--init-groups", program] + arguments : arguments
        // A file, not a pipe: the server keeps it open.
        let output = FileManager.default.temporaryDirectory.appendingPathComponent("postgres-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: output) }
        let pid = try spawn(isChanged ? "/usr/bin/setpriv" : program, whole, input: nil, output: output.path)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        let text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
        guard status == 0 else {
            let name = URL(fileURLWithPath: program).lastPathComponent
            throw Failure(description: "\(name): \(text.split(separator: "\n").suffix(3).joined(separator: "; "))")
        }
        return text.trimmingCharacters(in: .newlines)
    }

    /// Foundation's `Process` waits until nobody has its descriptors any more, and the server would inherit them.
    private func spawn(_ program: String, _ arguments: [String], input: Int32?, output: String?) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output ?? "/dev/null", O_WRONLY | O_CREAT, 0o600)
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
        cspawn_close_from(&actions, STDERR_FILENO + 1)
        var vector: [UnsafeMutablePointer<CChar>?] = (["env", "-C", "/", program] + arguments).map { strdup($0) }
        defer { vector.forEach { free($0) } }
        vector.append(nil)
        // From a folder that the server's user may enter, and in the language of this program.
        var variables = ProcessInfo.processInfo.environment.merging(["LC_ALL": "C"]) { $1 }
        // A server tells systemd about itself, too.
        variables["NOTIFY_SOCKET"] = nil
        var environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0.key)=\($0.value)") }
        defer { environment.forEach { free($0) } }
        environment.append(nil)
        var pid: pid_t = 0
        let status = posix_spawn(&pid, "/usr/bin/env", &actions, nil, vector, environment)
        guard status == 0 else { throw Failure(description: "cannot start \(program): \(String(cString: strerror(status)))") }
        return pid
    }
}
