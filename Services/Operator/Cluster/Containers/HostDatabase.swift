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
    /// True when a server that waits for no standby is refused.
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
    /// - Parameter passwords: The password of each service.
    static func script(passwords: [ClusterService: String]) -> String {
        services.map { service in
            let role = StoreRole(service.rawValue, password: passwords[service] ?? "")
            return "\(role.creation);\n\(role.grant);\n\(role.database);\n"
        }.joined(separator: "\n")
    }
}

/// A host that gets a copy of each program.
struct HostPlan: Sendable, Equatable {
    /// As the others find it by name.
    let name: String
    /// Its zone; `nil`: none.
    let zone: String?
    /// Its programs tell metrics and readiness here; `nil`: at the address of its name.
    var debugAddress: String?

    /// - Parameter text: `NAME` or `NAME=ZONE`.
    /// - Throws: `ValidationError`.
    init(_ text: String) throws {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        name = parts[0]
        zone = parts.count > 1 ? parts[1] : nil
        try Self.check(name, option: "--host")
        if let zone, zone.isEmpty || zone.utf8.count > 128 { throw ValidationError("--host '\(text)' has no zone of 1 to 128 octets behind '='") }
    }

    /// - Parameters:
    ///   - hosts: As `--host` names them.
    ///   - debugAddresses: `HOST=IP` of hosts whose name leads to another address than the one for metrics.
    /// - Throws: `ValidationError`.
    static func all(_ hosts: [String], debugAddresses: [String]) throws -> [HostPlan] {
        var plans = try hosts.map(HostPlan.init)
        guard Set(plans.map(\.name)).count == plans.count else { throw ValidationError("--host names a host twice") }
        for text in debugAddresses {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, isNumeric(parts[1]) else {
                throw ValidationError("--debug-address '\(text)' is no HOST=IP, such as a1=10.0.0.21")
            }
            guard let index = plans.firstIndex(where: { $0.name == parts[0] }) else {
                throw ValidationError("--debug-address '\(text)' is for a host that no --host names")
            }
            guard plans[index].debugAddress == nil else { throw ValidationError("--debug-address names '\(parts[0])' twice") }
            plans[index].debugAddress = parts[1]
        }
        return plans
    }

    /// A host stands in the middle of a name in its certificates.
    static func check(_ name: String, option: String) throws {
        let label = /[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*/
        guard name.utf8.count <= 200, name.wholeMatch(of: label) != nil else {
            throw ValidationError("\(option) '\(name)' is no name of a host: lower-case letters, digits, '-' and '.'")
        }
    }

    /// True for an address of IPv4 or IPv6, without brackets.
    static func isNumeric(_ address: String) -> Bool {
        var (four, six) = (in_addr(), in6_addr())
        return inet_pton(AF_INET, address, &four) == 1 || inet_pton(AF_INET6, address, &six) == 1
    }
}
