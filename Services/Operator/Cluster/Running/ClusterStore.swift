internal import CommandKit
internal import Foundation
internal import PrivatePostgres

/// The stores of a local cluster: which settings services get for them, and the server that they need.
struct ClusterStore: Sendable {
    /// Services whose store PostgreSQL can keep.
    static let services: [ClusterService] = [.config, .authentication, .authorization, .autosignin]

    let home: ClusterHome
    let ports: PortPlan
    let choice: StoreChoice

    private var folder: URL { home.root.appendingPathComponent("postgres") }

    /// The object `storage` of a service's settings; `nil`: it has none.
    func settings(of service: ClusterService) -> [String: Any]? {
        guard Self.services.contains(service) else { return nil }
        switch choice {
        case .asBefore: return written(service)
        case .files: return nil
        case .privateServer:
            return [
                "engine": "postgres", "hosts": ["127.0.0.1:\(ports.postgres)"], "passwordFile": passwordFile(service.rawValue).path,
            ]
        case .server(let server):
            let host = server.host.contains(":") ? "[\(server.host)]" : server.host
            var storage: [String: Any] = ["engine": "postgres", "hosts": ["\(host):\(server.port)"], "user": server.user]
            if !server.password.isEmpty { storage["passwordFile"] = passwordFile("server").path }
            if let anchors = server.trustAnchors { storage["tls"] = ["trustAnchors": anchors] }
            return storage
        }
    }

    /// True when the service's store is in PostgreSQL.
    func isServer(_ service: ClusterService) -> Bool { settings(of: service)?["engine"] as? String == "postgres" }

    /// Services that are to keep their stores elsewhere than the settings say that are there.
    var moved: Set<ClusterService> {
        guard choice != .asBefore else { return [] }
        return Set(
            Self.services.filter { service in
                FileManager.default.fileExists(atPath: home.settings(of: service).path)
                    && !NSDictionary(dictionary: settings(of: service) ?? [:]).isEqual(to: written(service) ?? [:])
            })
    }

    /// Writes passwords, and starts the cluster's own server where its services use one.
    /// - Returns: True when the server was started.
    /// - Throws: `CommandFailure`.
    func prepare() throws -> Bool {
        if case .server(let server) = choice, !server.password.isEmpty { try write(server.password, to: passwordFile("server")) }
        guard choice == .privateServer || choice == .asBefore && isServerUsed else { return false }
        guard let programs = PrivatePostgres.installed else {
            throw CommandFailure(
                "PostgreSQL is not installed", advice: "apt-get install postgresql, or give --store postgres://… of a server elsewhere")
        }
        let server = PrivatePostgres(folder: folder, port: ports.postgres, programs: programs)
        let isRunning = server.pid != nil
        if !isRunning {
            do { try server.requireAccess() } catch {
                throw CommandFailure(
                    "the cluster's PostgreSQL cannot run here: \(PlainReason.of(error))",
                    advice: "set BOXOFFICE_HOME to a folder below one that others may enter, such as /var/lib/boxoffice, or leave --store out")
            }
        }
        do {
            // Closes one of an earlier release, too, which any user of the machine could enter.
            try server.make()
            if !isRunning { try server.start() }
            // One that runs may be an earlier release's, which kept fewer services there.
            for service in Self.services { try makeRole(service.rawValue, server) }
        } catch {
            throw CommandFailure(
                "the cluster's PostgreSQL does not start: \(PlainReason.of(error))",
                advice: (log.map { "see \($0), or " } ?? "") + "leave --store out")
        }
        return !isRunning
    }

    /// The log of its own server; `nil`: it has not begun yet.
    var log: String? {
        let path = folder.appendingPathComponent("log").path
        return FileManager.default.fileExists(atPath: path) ? path : nil
    }

    /// The cluster's own server, where its services use one.
    var ownServer: (pid: Int32?, port: Int, version: String?)? {
        guard isServerUsed else { return nil }
        let hosts = Self.services.lazy.compactMap { written($0)?["hosts"] as? [String] }.first
        let port = hosts?.first.flatMap { $0.split(separator: ":").last }.flatMap { Int($0) } ?? ports.postgres
        let version = try? String(contentsOf: folder.appendingPathComponent("data/PG_VERSION"), encoding: .utf8)
        let pid = PrivatePostgres.installed.flatMap { PrivatePostgres(folder: folder, port: port, programs: $0).pid }
        return (pid, port, version?.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// Stops the cluster's own server, if it runs.
    /// - Returns: True when it ran.
    @discardableResult func stop() -> Bool {
        guard let programs = PrivatePostgres.installed else { return false }
        let server = PrivatePostgres(folder: folder, port: ports.postgres, programs: programs)
        let ran = server.pid != nil
        try? server.stop()
        return ran
    }

    /// A role and a database of the service's own, with the bounds that the server keeps for it.
    private func makeRole(_ name: String, _ server: PrivatePostgres) throws {
        let (role, existence) = (StoreRole(name), StoreRole.existence(of: name))
        guard try server.run(sql: existence.database).isEmpty else { return }
        try write(role.password, to: passwordFile(name))
        try server.run(sql: try server.run(sql: existence.role).isEmpty ? role.creation : role.change)
        try server.run(sql: role.database)
    }

    private var isServerUsed: Bool {
        FileManager.default.fileExists(atPath: folder.path)
            && Self.services.contains { written($0)?["passwordFile"] as? String == passwordFile($0.rawValue).path }
    }

    private func passwordFile(_ name: String) -> URL { home.pki.appendingPathComponent("postgres-\(name).password") }

    private func write(_ text: String, to file: URL) throws {
        guard FileManager.default.createFile(atPath: file.path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600]) else {
            throw CommandFailure("cannot write \(file.path)", advice: "check its permissions and the free space")
        }
    }

    private func written(_ service: ClusterService) -> [String: Any]? {
        guard let content = FileManager.default.contents(atPath: home.settings(of: service).path) else { return nil }
        return (try? JSONSerialization.jsonObject(with: content) as? [String: Any])?["storage"] as? [String: Any]
    }
}
