internal import Foundation

/// Where the services of a local cluster are to keep their stores.
enum StoreChoice: Sendable, Equatable {
    /// As the settings that are there say; at first files.
    case asBefore
    /// A file for each service.
    case files
    /// A PostgreSQL server of the cluster's own.
    case privateServer
    /// A server that somebody runs.
    case server(Server)

    struct Server: Sendable, Equatable {
        let host: String
        let port: Int
        let user: String
        let password: String
        /// PEM file of the authority of its certificate; `nil`: in the clear.
        let trustAnchors: String?
    }

    /// - Parameter text: `sqlite`, `postgres` or `postgres://USER:PASSWORD@HOST:PORT`, with `?sslrootcert=FILE` where the server is on another machine.
    /// - Throws: `CommandFailure` saying what is wrong with it.
    init(_ text: String?) throws {
        switch text {
        case nil: self = .asBefore
        case "sqlite": self = .files
        case "postgres": self = .privateServer
        case let text?:
            guard let parts = URLComponents(string: text), parts.scheme == "postgres" || parts.scheme == "postgresql", let host = parts.host,
                !host.isEmpty, let user = parts.user, !user.isEmpty
            else {
                throw CommandFailure("--store is '\(text)'", advice: "give sqlite, postgres, or postgres://USER:PASSWORD@HOST:PORT")
            }
            guard ["", "/"].contains(parts.path) else {
                throw CommandFailure(
                    "--store names the database \(parts.path.dropFirst())",
                    advice: "leave it out: each service has a database of its own, named as the service")
            }
            let items = parts.queryItems ?? []
            if let other = items.first(where: { $0.name != "sslrootcert" }) {
                throw CommandFailure("--store has the parameter \(other.name)", advice: "sslrootcert is the only one")
            }
            let file = items.first?.value.map { URL(fileURLWithPath: $0).path }
            let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
            self = .server(Server(host: name, port: parts.port ?? 5432, user: user, password: parts.password ?? "", trustAnchors: file))
        }
    }
}
