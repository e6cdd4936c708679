internal import CommandKit
internal import Foundation

/// The services of a local cluster are to keep their stores in one of these places.
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

    /// - Parameters:
    ///   - text: `sqlite`, `postgres` or `postgres://USER:PASSWORD@HOST:PORT`, with `?sslrootcert=FILE` where the server is on another machine.
    ///   - option: The option with which it was given.
    /// - Throws: `CommandFailure` saying what is wrong with it.
    init(_ text: String?, option: String = "--store") throws {
        switch text {
        case nil: self = .asBefore
        case "sqlite": self = .files
        case "postgres": self = .privateServer
        case let text?:
            guard let parts = URLComponents(string: text), parts.scheme == "postgres" || parts.scheme == "postgresql", let host = parts.host,
                !host.isEmpty, let user = parts.user, !user.isEmpty
            else {
                // A text that is no address may hold a password with blanks, or one whose '@HOST' was forgotten.
                let shown = text.replacing(/:\/\/([^\/@:]*):(.*@|.+)/) { "://\($0.1):[hidden]\($0.2.hasSuffix("@") ? "@" : "")" }
                throw CommandFailure("\(option) is '\(shown)'", advice: "give sqlite, postgres, or postgres://USER:PASSWORD@HOST:PORT")
            }
            guard ["", "/"].contains(parts.path) else {
                throw CommandFailure(
                    "\(option) names the database \(parts.path.dropFirst())",
                    advice: "leave it out: each service has a database of its own, named as the service")
            }
            let items = parts.queryItems ?? []
            let file = try items.first { $0.name == "sslrootcert" }.map { item in
                guard let value = item.value, !value.isEmpty else {
                    throw CommandFailure(
                        "sslrootcert of \(option) is empty", advice: "give the PEM file of the authority of the server's certificate")
                }
                return URL(fileURLWithPath: value).path
            }
            for item in items { try Self.check(item, isVerified: file != nil, option) }
            let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
            self = .server(Server(host: name, port: parts.port ?? 5432, user: user, password: parts.password ?? "", trustAnchors: file))
        }
    }

    /// The parameters that libpq knows: those that say what is done anyway are served, others are refused with the reason.
    private static func check(_ item: URLQueryItem, isVerified: Bool, _ option: String) throws {
        let value = item.value ?? ""
        func refuse(_ advice: String) throws -> Never {
            // The value of other settings may be a password.
            let shown = ["sslmode", "target_session_attrs"].contains(item.name) ? "=\(value)" : ""
            throw CommandFailure("\(option) has the parameter \(item.name)\(shown)", advice: advice)
        }
        switch item.name {
        case "sslrootcert": break
        case "sslmode":
            guard value == (isVerified ? "verify-full" : "disable") else {
                try refuse(
                    isVerified
                        ? "with sslrootcert it is always verify-full"
                        : "give sslrootcert=FILE for a server on another machine, which is then verified (verify-full); without it, it is disable")
            }
        case "target_session_attrs":
            guard value == "read-write" else { try refuse("it is always read-write: the services write to their stores") }
        case "application_name": try refuse("leave it out: it is boxoffice- and the name of the service")
        case "connect_timeout": try refuse("leave it out: the services have a time limit of their own, and try again")
        default: try refuse("leave it out: sslrootcert, sslmode and target_session_attrs are read")
        }
    }
}
