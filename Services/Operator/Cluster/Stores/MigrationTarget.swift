internal import CommandKit
internal import Foundation
internal import ServiceKit

/// The server that stores are copied to.
final class MigrationTarget {
    private let choice: StoreChoice
    private let cluster: ClusterStore
    private var hasStarted = false
    /// With the password of a URL, for as long as it is needed.
    private let passwordFile: URL?

    /// - Throws: `CommandFailure` when a password cannot be kept.
    init(_ choice: StoreChoice, home: ClusterHome, ports: PortPlan) throws {
        self.choice = choice
        cluster = ClusterStore(home: home, ports: ports, choice: choice)
        guard case .server(let server) = choice, !server.password.isEmpty else {
            passwordFile = nil
            return
        }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-\(UUID().uuidString).password")
        guard FileManager.default.createFile(atPath: file.path, contents: Data(server.password.utf8), attributes: [.posixPermissions: 0o600]) else {
            throw CommandFailure("cannot write \(file.path)", advice: "check the permissions of the folder for temporary files")
        }
        passwordFile = file
    }

    /// Starts the cluster's own server, if that is the one.
    func prepare() throws {
        guard choice == .privateServer else { return }
        hasStarted = try cluster.prepare()
    }

    /// Stops what was started, and forgets the password.
    func end() {
        if hasStarted { cluster.stop() }
        if let passwordFile { try? FileManager.default.removeItem(at: passwordFile) }
    }

    /// - Throws: `CommandFailure` when nobody says where the service's database is.
    func server(of description: StoreDescription) throws -> StoreDescription.Server {
        let name = description.service
        switch choice {
        case .asBefore, .files:
            guard let server = description.server else {
                throw CommandFailure("the settings of \(name) name no server", advice: "give one with --to")
            }
            return server
        case .privateServer:
            guard let server = ClusterService(rawValue: name).flatMap(cluster.server) else {
                throw CommandFailure("the cluster's server keeps no store of \(name)", advice: "name the others, each by --service")
            }
            return server
        case .server(let server):
            let host = server.host.contains(":") ? "[\(server.host)]" : server.host
            return StoreDescription.Server(
                hosts: ["\(host):\(server.port)"], database: name, user: server.user, passwordFile: passwordFile?.path,
                trustAnchors: server.trustAnchors)
        }
    }
}

extension ClusterStore {
    /// Where a service's database is in the cluster's own server; `nil`: it has none.
    func server(of service: ClusterService) -> StoreDescription.Server? {
        guard let storage = settings(of: service), let hosts = storage["hosts"] as? [String] else { return nil }
        return StoreDescription.Server(
            hosts: hosts, database: service.rawValue, user: service.rawValue, passwordFile: storage["passwordFile"] as? String)
    }
}
