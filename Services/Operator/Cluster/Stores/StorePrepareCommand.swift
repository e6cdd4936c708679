internal import ArgumentParser
internal import CommandKit
internal import Foundation
internal import PrivatePostgres
internal import ServiceKit
internal import Storage
internal import StoragePostgres

/// `boxoffice store prepare`.
struct StorePrepareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prepare", abstract: "Make roles and databases at a server, and name it in the services' settings.",
        discussion: """
            For each service whose store PostgreSQL keeps: a role with a password of its own, a database that it owns, and 'storage' in its settings, with the \
            password in a file beside them. What is there stays. compose.yaml runs it for the profile postgres.
            """)

    @Option(help: ArgumentHelp("The server: host:port, or the folder of its socket, /run/postgresql:5432.", valueName: "place"))
    var server: String?

    @Option(help: "Who may make roles and databases there.")
    var user = "postgres"

    @Option(name: .customLong("password-file"), help: "The file with that user's password; default: none is needed.")
    var passwordFile: String?

    @Option(name: .customLong("trust-anchors"), help: "PEM file of the authority of the server's certificate, where it is on another machine.")
    var trustAnchors: String?

    @Option(help: ArgumentHelp("Folder with SERVICE.json or SERVICE/config.json of each service.", valueName: "folder"))
    var settings: String

    @Flag(name: .customLong("new-passwords"), help: "Give roles that are there other passwords, where theirs are not beside the settings.")
    var newPasswords = false

    @Flag(help: "In place of a server: the services keep their stores in files again.")
    var files = false

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard (server == nil) == files else { throw ValidationError("give --server, or --files") }
        if let server, StoreDescription.Server(hosts: [server], database: "", user: "").options.hosts.isEmpty {
            throw ValidationError("--server is '\(server)'; give host:port, or /folder:port")
        }
    }

    func run() async throws {
        // A server's message about a missing password names settings of services.
        for file in [passwordFile, trustAnchors].compactMap({ $0 }) { _ = try TextFile.content(file) }
        let console = Console(isQuiet: json)
        var prepared: [[String: String]] = []
        let database = try server.map { try PostgresMaintenance(place($0).options) }
        for service in ClusterStore.services {
            guard
                let file = ["\(service.rawValue)/config.json", "\(service.rawValue).json"].map({ URL(fileURLWithPath: "\(settings)/\($0)") })
                    .first(where: { FileManager.default.fileExists(atPath: $0.path) })
            else { throw CommandFailure("there are no settings of \(service.rawValue) in \(settings)", advice: "name their folder with --settings") }
            guard let database, let server else {
                try write(nil, to: file)
                console.line("\(service.rawValue): in a file")
                prepared.append(["service": service.rawValue])
                continue
            }
            let password = file.deletingLastPathComponent().appendingPathComponent("pki/postgres-\(service.rawValue).password")
            try make(service.rawValue, database, password)
            let grant = StoreRole(service.rawValue).grant
            do throws(StoreError) {
                try database.run(grant)
            } catch {
                console.line("\(service.rawValue): its role may not see standbys (\(error.reason)); let the server's administrator run: \(grant)")
            }
            // Relative to the settings: both move together.
            var storage: [String: Any] = ["engine": "postgres", "hosts": [server], "passwordFile": "pki/\(password.lastPathComponent)"]
            if let trustAnchors { storage["tls"] = ["trustAnchors": URL(fileURLWithPath: trustAnchors).standardizedFileURL.path] }
            try write(storage, to: file)
            console.line("\(service.rawValue): in the database \(service.rawValue) at \(server)")
            prepared.append(["service": service.rawValue, "database": service.rawValue, "server": server])
        }
        if json { try JsonOutput.show(["stores": prepared]) }
    }

    private func place(_ server: String) -> StoreDescription.Server {
        StoreDescription.Server(hosts: [server], database: "postgres", user: user, passwordFile: passwordFile, trustAnchors: trustAnchors)
    }

    private func make(_ name: String, _ database: PostgresMaintenance, _ passwordFile: URL) throws {
        let role = StoreRole(name)
        let existence = StoreRole.existence(of: name)
        let isKnown = try database.value(existence.role) != nil
        if !isKnown || !FileManager.default.fileExists(atPath: passwordFile.path) {
            guard !isKnown || newPasswords else {
                throw CommandFailure(
                    "the server has the role \(name), and its password is not in \(passwordFile.path)",
                    advice: "copy that file from the host that has it, or give --new-passwords, which locks out whoever has the present one")
            }
            try database.run(isKnown ? role.change : role.creation)
            try? FileManager.default.createDirectory(
                at: passwordFile.deletingLastPathComponent(), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try WrittenFiles.replace(passwordFile, with: Data(role.password.utf8))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: passwordFile.path)
        }
        if try database.value(existence.database) == nil { try database.run(role.database) }
    }

    private func write(_ storage: [String: Any]?, to file: URL) throws {
        guard var settings = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any] else {
            throw CommandFailure("\(file.path) is not a JSON object", advice: "remove it, and let it be written again")
        }
        settings["storage"] = storage
        try WrittenFiles.replace(file, with: try SettingsWriter.content(settings))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }
}
