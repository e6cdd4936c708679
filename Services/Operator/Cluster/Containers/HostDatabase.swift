internal import ArgumentParser
internal import CommandKit
internal import Foundation
internal import PrivatePostgres

/// The PostgreSQL servers that keep the stores of services on several hosts.
struct HostDatabase: Sendable, Equatable {
    /// Those that may be the primary, `host:port`.
    let hosts: [String]
    /// PEM file of the authority of their certificates.
    let authority: String
    /// Whether a server that waits for no standby is refused.
    let requiresStandby: Bool

    /// Services with a store, each with a role and a database named as it is.
    static let services: [ClusterService] = ClusterStore.services
    /// Beside the keys.
    static let authorityFile = "postgres-ca.crt"
    /// With what the servers' administrator makes roles and databases.
    static let script = "postgres.sql"

    static func passwordFile(_ service: ClusterService) -> String { "postgres-\(service.rawValue).password" }

    /// - Returns: `nil` when no server is named.
    /// - Throws: `ValidationError`.
    init?(hosts: [String], authority: String?, requiresStandby: Bool, copies: Int) throws {
        guard !hosts.isEmpty else {
            if authority != nil { throw ValidationError("--store-ca needs --store-host") }
            if requiresStandby { throw ValidationError("--require-standby needs --store-host") }
            return nil
        }
        guard copies > 0 else { throw ValidationError("--store-host is for services on several hosts; name them with --host") }
        guard let authority else {
            throw ValidationError("--store-host needs --store-ca: passwords and rows go over the network, so that TLS is a must")
        }
        for host in hosts {
            let colon = host.lastIndex(of: ":")
            let port = colon.flatMap { Int(host[host.index(after: $0)...]) }
            guard let colon, colon > host.startIndex, let port, (1...65535).contains(port) else {
                throw ValidationError("--store-host '\(host)' is no HOST:PORT, such as db-a.example:5432")
            }
        }
        (self.hosts, self.authority, self.requiresStandby) = (hosts, authority, requiresStandby)
    }

    /// `storage` of a service's settings.
    func settings(of service: ClusterService) -> [String: Any] {
        var settings: [String: Any] = [
            "engine": "postgres", "hosts": hosts, "user": service.rawValue, "passwordFile": "pki/\(Self.passwordFile(service))",
            "tls": ["trustAnchors": "pki/\(Self.authorityFile)"],
        ]
        if requiresStandby { settings["requireStandby"] = true }
        return settings
    }

    /// Statements that make the role and the database of each service, with the bounds that the server keeps for it.
    /// - Parameter passwords: Of each service.
    static func script(passwords: [ClusterService: String]) -> String {
        services.map { service in
            let role = StoreRole(service.rawValue, password: passwords[service] ?? "")
            return "\(role.creation);\n\(role.grant);\n\(role.database);\n"
        }.joined(separator: "\n")
    }
}
