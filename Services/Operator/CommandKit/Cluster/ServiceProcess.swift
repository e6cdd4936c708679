import CSpawn
package import Foundation

/// A program of the cluster as a process of its own session, so that a Ctrl-C at the terminal does not reach it.
package struct ServiceProcess: Sendable {
    package let service: ClusterService
    package let pid: Int32
    /// The number among the service's copies.
    package var number = 1
    /// `POSIX_SPAWN_SETSID` of spawn.h, which only GNU sources see.
    private static let startSession: Int32 = 0x80
    /// glibc keeps 7 freed pieces of each size by itself (Shared/Documents/Decisions/0024-enlarge-allocator-caches.md).
    private static let allocatorCaches = ["GLIBC_TUNABLES": "glibc.malloc.tcache_count=256"]

    /// - Parameters:
    ///   - binary: The executable.
    ///   - arguments: Without the program's name.
    ///   - environment: Beside this program's own; before it where both name a variable.
    ///   - log: Gets what it prints, appended; the program begins other files in time.
    /// - Throws: `CommandFailure` when it cannot be started.
    package static func start(_ service: ClusterService, binary: URL, arguments: [String], environment: [String: String] = [:], log: URL) throws
        -> ServiceProcess
    {
        let variables = ["BOXOFFICE_LOG_FILE": log.path].merging(environment) { $1 }
        return ServiceProcess(service: service, pid: try spawn(binary, arguments: arguments, environment: variables, log: log))
    }

    /// Starts a program in a session of its own.
    /// - Returns: Its process id.
    package static func spawn(_ binary: URL, arguments: [String], environment: [String: String] = [:], log: URL) throws -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
        // The child has no open descriptor of this program. Otherwise a connection that a service held, too, would not end when this program closes
        // it.
        cspawn_close_from(&actions, STDERR_FILENO + 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Signals that this program ignores must reach the service.
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(Self.startSession | POSIX_SPAWN_SETSIGDEF))

        var vector: [UnsafeMutablePointer<CChar>?] = ([binary.path] + arguments).map { strdup($0) }
        defer { vector.forEach { free($0) } }
        vector.append(nil)
        let variables = Self.variables(of: ProcessInfo.processInfo.environment, with: environment)
        var settings: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0.key)=\($0.value)") }
        defer { settings.forEach { free($0) } }
        settings.append(nil)
        var pid: pid_t = 0
        let status = posix_spawn(&pid, binary.path, &actions, &attributes, vector, settings)
        guard status == 0 else {
            throw CommandFailure("cannot start \(binary.path)", advice: String(cString: strerror(status)))
        }
        return pid
    }

    /// The environment of a program.
    /// - Parameters:
    ///   - own: This program's. Variables that systemd set for this program are not for others: they would be watched in its place.
    ///   - more: Before it where both name a variable.
    static func variables(of own: [String: String], with more: [String: String]) -> [String: String] {
        allocatorCaches.merging(own.filter { !["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"].contains($0.key) }) { $1 }.merging(more) { $1 }
    }

    package init(service: ClusterService, pid: Int32) { (self.service, self.pid) = (service, pid) }

    package init(_ copy: ServiceCopy, pid: Int32) { (service, number, self.pid) = (copy.service, copy.number, pid) }

    package var copy: ServiceCopy { ServiceCopy(service, number) }

    /// True while a process with that id runs the service's program; a reused id is not mistaken for it. One that is killed ends when its last thread
    /// has: until then its ports are taken.
    package var isRunning: Bool {
        var status: Int32 = 0
        let ended = waitpid(pid, &status, WNOHANG)
        if ended == pid { return false }
        guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe") else {
            // The first thread has ended. A child whose id has not come yet has more.
            return ended == 0 || hasThreads
        }
        return URL(fileURLWithPath: target.replacingOccurrences(of: " (deleted)", with: "")).lastPathComponent == service.rawValue
    }

    /// True when threads of the service are left beside the first one, which has ended.
    private var hasThreads: Bool {
        let name = try? String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8)
        guard name?.trimmingCharacters(in: .newlines) == service.rawValue else { return false }
        return (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task"))?.count ?? 0 > 1
    }

    package func signal(_ number: Int32) { kill(pid, number) }
}

/// One of the copies of a service in a local cluster.
package struct ServiceCopy: Sendable, Hashable {
    package let service: ClusterService
    /// From 1 on.
    package let number: Int

    package init(_ service: ClusterService, _ number: Int = 1) { (self.service, self.number) = (service, number) }

    /// `authentication`, then `authentication-2`.
    package var name: String { number == 1 ? service.rawValue : "\(service.rawValue)-\(number)" }
}

extension PortPlan {
    package func main(_ copy: ServiceCopy) -> Int { copy.number == 1 ? main(copy.service) : block(copy, 7000) + copy.service.index }

    package func debug(_ copy: ServiceCopy) -> Int {
        copy.number == 1 ? debug(copy.service) : base == nil ? block(copy, 9000) + copy.service.index : block(copy, 0) + 5 + copy.service.index
    }

    /// The first of ten ports.
    private func block(_ copy: ServiceCopy, _ standard: Int) -> Int { (base.map { $0 + 30 } ?? standard) + 10 * (copy.number - 1) }
}

extension ClusterHome {
    package func settings(of copy: ServiceCopy) -> URL { settings.appendingPathComponent("\(copy.name).json") }
    package func log(of copy: ServiceCopy) -> URL { logs.appendingPathComponent("\(copy.name).log") }
}

/// The one folder that holds all state of a local cluster.
package struct ClusterHome: Sendable {
    package let root: URL

    /// - Parameters:
    ///   - environment: Read for `BOXOFFICE_HOME`.
    ///   - checkout: The folder whose `.boxoffice` is the default.
    package init(environment: [String: String], checkout: URL) {
        let given = environment["BOXOFFICE_HOME"].flatMap { $0.isEmpty ? nil : $0 }
        root = (given.map { URL(fileURLWithPath: $0) } ?? checkout.appendingPathComponent(".boxoffice")).standardizedFileURL
    }

    package init(root: URL) { self.root = root.standardizedFileURL }

    package var pki: URL { root.appendingPathComponent("pki") }
    package var data: URL { root.appendingPathComponent("data") }
    package var logs: URL { root.appendingPathComponent("logs") }
    package var settings: URL { root.appendingPathComponent("settings") }
    package var catalogue: URL { root.appendingPathComponent("catalogue.json") }
    /// Digests of the settings and of the catalogue as this command wrote them.
    package var writtenFiles: URL { settings.appendingPathComponent("written.json") }
    package var clusterFile: URL { root.appendingPathComponent("cluster.json") }
    package var lockFile: URL { root.appendingPathComponent("lock") }

    package func settings(of service: ClusterService) -> URL { settings.appendingPathComponent("\(service.rawValue).json") }
    package func log(of service: ClusterService) -> URL { logs.appendingPathComponent("\(service.rawValue).log") }

    /// Makes the folders that are missing, readable by their owner alone.
    /// - Throws: `CommandFailure` naming the folder.
    package func prepare() throws {
        for folder in [root, pki, data, logs, settings] {
            do {
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            } catch {
                throw CommandFailure(
                    "cannot make the folder \(folder.path)",
                    advice: "check its parent's permissions, or set BOXOFFICE_HOME (\(PlainReason.of(error)))")
            }
        }
    }

    /// The files that `forgetState` removes.
    package var state: [URL] {
        [data, logs, settings, catalogue, root.appendingPathComponent("postgres")].filter { FileManager.default.fileExists(atPath: $0.path) }
    }

    /// Removes what the services remember, their logs, settings and catalogue; the PKI stays.
    package func forgetState() throws {
        for item in state where FileManager.default.fileExists(atPath: item.path) {
            try FileManager.default.removeItem(at: item)
        }
    }
}
