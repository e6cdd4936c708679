internal import CommandKit
internal import Foundation
internal import ServiceKit

/// The programs that come with PostgreSQL, for a server.
struct PostgresPrograms {
    private let folder: URL
    private let environment: [String: String]

    /// - Throws: `CommandFailure` when they are not installed.
    init(for server: StoreDescription.Server) throws {
        guard let folder = Self.folder else {
            throw CommandFailure(
                "pg_dump, pg_restore and psql are not installed", advice: "apt-get install postgresql-client, of the server's version or a later one")
        }
        self.folder = folder
        let options = server.options
        var variables = [
            "PGHOST": options.hosts.map(\.name).joined(separator: ","), "PGPORT": options.hosts.map { "\($0.port)" }.joined(separator: ","),
            "PGDATABASE": options.database, "PGUSER": options.user, "PGPASSFILE": "/dev/null/none", "PGTARGETSESSIONATTRS": "read-write",
            "PGCONNECT_TIMEOUT": "10", "PGSSLMODE": "disable", "PGAPPNAME": "boxoffice-maintenance",
        ]
        if let file = options.passwordFile, let text = try? String(contentsOfFile: file, encoding: .utf8) {
            variables["PGPASSWORD"] = text.trimmingCharacters(in: .newlines)
        }
        if let tls = options.tls {
            variables["PGSSLMODE"] = "verify-full"
            variables["PGSSLROOTCERT"] = tls.trustAnchors
            variables["PGSSLCERT"] = tls.certificate ?? ""
            variables["PGSSLKEY"] = tls.key ?? ""
            if options.passwordFile != nil, tls.requiresChannelBinding { variables["PGCHANNELBINDING"] = "require" }
        }
        environment = variables
    }

    /// The newest of Debian's versions, else where the path leads.
    private static var folder: URL? {
        let versions = URL(fileURLWithPath: "/usr/lib/postgresql")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: versions.path)) ?? []
        let known = names.compactMap { Int($0) }.sorted(by: >).map { versions.appendingPathComponent("\($0)/bin") }
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { URL(fileURLWithPath: String($0)) }
        return (known + path).first { folder in
            ["pg_dump", "pg_restore", "psql"].allSatisfy { FileManager.default.isExecutableFile(atPath: folder.appendingPathComponent($0).path) }
        }
    }

    func path(_ program: String) -> String { folder.appendingPathComponent(program).path }

    /// - Throws: `CommandFailure` with what it complains about.
    @discardableResult
    func run(_ program: String, _ arguments: [String]) throws -> Subprocess {
        let ended = try Subprocess.run(program.hasPrefix("/") ? program : path(program), arguments, environment: environment)
        guard ended.status == 0 else { throw CommandFailure("\(program) failed", advice: ended.complaint) }
        return ended
    }
}
