internal import ArgumentParser
internal import CommandKit
internal import Foundation
internal import ServiceKit
internal import StoragePostgres
internal import StorageSqlite

/// Puts a copy of a store in its place.
struct StoreRestoring {
    let description: StoreDescription
    let saved: BackupManifest.Store
    let folder: URL
    /// True when what is in the place may go.
    let isForced: Bool

    private var copy: String { folder.appendingPathComponent(saved.file).path }

    /// Refuses whatever cannot be restored; changes nothing.
    /// - Throws: `CommandFailure` or `StoreError`.
    func check() throws {
        let engine = description.server == nil ? "sqlite" : "postgres"
        guard saved.engine == engine else {
            let advice =
                engine == "postgres"
                ? "boxoffice store migrate --from \(folder.path) copies it there" : "name the server in the settings of \(saved.service)"
            throw CommandFailure("the copy of \(saved.service) is of \(saved.engine), and its settings say \(engine)", advice: advice)
        }
        let known = (description.server == nil ? description.sqlite : description.postgres ?? []).count
        guard saved.least <= known else {
            throw CommandFailure("the copy is of a newer version of \(saved.service)", advice: "use that version's programs")
        }
        if let server = description.server { try check(server) } else { try checkFile() }
    }

    private func checkFile() throws {
        if let pid = SqliteMaintenance.user(of: description.file) {
            throw CommandFailure("\(description.file) is in use" + (pid > 0 ? " by process \(pid)" : ""), advice: "stop \(saved.service) first")
        }
        guard isForced || !FileManager.default.fileExists(atPath: description.file) else {
            throw CommandFailure("\(description.file) is there", advice: "say --force to lose what it holds")
        }
        let copy = try SqliteMaintenance(file: copy)
        defer { copy.close() }
        let damage = try copy.damage(isDeep: false)
        guard damage.isEmpty else { throw CommandFailure("the copy of \(saved.service) is damaged", advice: damage.joined(separator: "; ")) }
    }

    private func check(_ server: StoreDescription.Server) throws {
        _ = try PostgresPrograms(for: server)
        let store = try PostgresMaintenance(server.options)
        let users = try store.users()
        guard users.isEmpty else {
            throw CommandFailure("\(store.place) is in use by \(users.joined(separator: ", "))", advice: "stop \(saved.service) first")
        }
        guard try isForced || store.tables().isEmpty else {
            throw CommandFailure("\(store.place) has a store already", advice: "say --force to lose what it holds")
        }
    }

    /// - Throws: `CommandFailure` or `StoreError`; the place then has what it had before.
    func run() throws { if let server = description.server { try restore(server) } else { try restoreFile() } }

    private func restoreFile() throws {
        let place = URL(fileURLWithPath: description.file)
        let data = place.deletingLastPathComponent()
        if !FileManager.default.fileExists(atPath: data.path) {
            try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        let arriving = data.appendingPathComponent(".\(place.lastPathComponent).restoring")
        try? FileManager.default.removeItem(at: arriving)
        try FileManager.default.copyItem(atPath: copy, toPath: arriving.path)
        // As the service makes it: whoever owns the folder alone may read it.
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: arriving.path)
        var facts = stat()
        if getuid() == 0, stat(data.path, &facts) == 0 { chown(arriving.path, facts.st_uid, facts.st_gid) }
        let isKept = try Subprocess.run("/bin/sync", [arriving.path])
        guard isKept.status == 0 else { throw CommandFailure("cannot write \(arriving.path)", advice: isKept.complaint) }
        // The journal of another file would destroy this one.
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: place.path + suffix) }
        guard rename(arriving.path, place.path) == 0 else {
            throw CommandFailure("cannot replace \(place.path)", advice: String(cString: strerror(errno)))
        }
        _ = try Subprocess.run("/bin/sync", [data.path])
        let restored = try SqliteMaintenance(file: place.path)
        defer { restored.close() }
        try compare(try StoreSaving.counts(try restored.tables(), restored.count), place.path)
    }

    /// One transaction removes what is there and brings what was saved.
    private func restore(_ server: StoreDescription.Server) throws {
        let programs = try PostgresPrograms(for: server)
        // Where the dump cannot be read to its end there is no COMMIT.
        let script =
            #"{ printf '%s' "$1"; "$2" --no-owner --no-privileges -f - "$3" && printf 'COMMIT;\n\\echo stored\n'; } | "$4" -X -q -v ON_ERROR_STOP=1 -f -"#
        let ended = try programs.run(
            "/bin/sh", ["-c", script, "sh", Self.removal, programs.path("pg_restore"), copy, programs.path("psql")])
        guard String(decoding: ended.output, as: UTF8.self).contains("stored") else {
            throw CommandFailure("the copy of \(saved.service) cannot be read", advice: ended.complaint)
        }
        let store = try PostgresMaintenance(server.options)
        try compare(try StoreSaving.counts(try store.tables(), store.count), store.place)
    }

    private static let removal = """
        BEGIN;
        SET LOCAL client_min_messages = warning;
        DO $$
        DECLARE command TEXT;
        BEGIN
            FOR command IN
                SELECT format('DROP TABLE IF EXISTS %I CASCADE', relname) FROM pg_class
                WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind IN ('r', 'p')
                UNION ALL
                SELECT format('DROP ROUTINE IF EXISTS %s CASCADE', CAST(oid AS regprocedure)) FROM pg_proc
                WHERE pronamespace = CAST(current_schema() AS regnamespace) AND pg_get_userbyid(proowner) = current_user
            LOOP
                EXECUTE command;
            END LOOP;
        END $$;

        """

    private func compare(_ found: [String: Int], _ place: String) throws {
        let wrong = saved.tables.filter { found[$0.key] != $0.value }.keys.sorted()
        guard wrong.isEmpty else { throw CommandFailure("\(place) has other rows than were saved, in \(wrong.joined(separator: ", "))") }
    }
}

/// The stores that a command is about.
struct StoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Folder with SERVICE.json or SERVICE/config.json of each service. Default: the settings of the cluster in $BOXOFFICE_HOME.",
            valueName: "folder"))
    var settings: String?

    @Option(help: ArgumentHelp("Folder with the services' programs. Default: where this program is.", valueName: "folder"))
    var programs: String?

    @Option(help: ArgumentHelp("Only this service; may be repeated.", valueName: "name"), completion: .rpcServices)
    var service: [String] = []

    /// Services that keep a store.
    private static let storeOwners: [ClusterService] = [.config, .authentication, .authorization, .autosignin]

    func validate() throws {
        for name in service where !Self.storeOwners.contains(where: { $0.rawValue == name }) {
            throw ValidationError("--service is \(name); stores are kept by \(Self.storeOwners.map(\.rawValue).joined(separator: ", "))")
        }
    }

    /// The stores, as the services' programs describe them.
    /// - Throws: `CommandFailure` when there are none, or a program cannot say.
    func descriptions(_ home: ClusterHome) throws -> [StoreDescription] {
        let folder = settings.map { URL(fileURLWithPath: $0) } ?? home.settings
        let replaced = settings == nil ? (try ClusterFile.read(home))?.replacements.map(\.service) ?? [] : []
        var found: [StoreDescription] = []
        for owner in Self.storeOwners where (service.isEmpty && !replaced.contains(owner)) || service.contains(owner.rawValue) {
            let places = ["\(owner.rawValue).json", "\(owner.rawValue)/config.json"].map { folder.appendingPathComponent($0).path }
            guard let file = places.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
                if service.isEmpty { continue }
                throw CommandFailure("there are no settings of \(owner.rawValue) in \(folder.path)", advice: "name their folder with --settings")
            }
            found.append(try describe(owner, file))
        }
        guard !found.isEmpty else {
            throw CommandFailure("there are no settings in \(folder.path)", advice: "name their folder with --settings, or set BOXOFFICE_HOME")
        }
        return found
    }

    private func describe(_ service: ClusterService, _ file: String) throws -> StoreDescription {
        let folder = programs.map { URL(fileURLWithPath: $0) } ?? Checkout.binaries
        let program = try ProgramFile(service, in: folder)
        let said = try Subprocess.run(program.path, ["--config", file, "--describe-store"], environment: service.environment)
        guard said.status == 0, let description = try? JSONDecoder().decode(StoreDescription.self, from: said.output) else {
            throw CommandFailure("\(service.rawValue) does not say what its store is", advice: said.complaint)
        }
        return description
    }
}

/// A program that is run to its end.
struct Subprocess {
    let status: Int32
    let output: Data
    let error: String

    /// The last line that it complained with.
    var complaint: String { error.split(separator: "\n").last.map(String.init) ?? "it ended with \(status)" }

    /// - Parameter environment: Beside this program's own; before it where both name a variable.
    /// - Throws: `CommandFailure` when it cannot be started.
    static func run(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws -> Subprocess {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let (output, error) = (Pipe(), Pipe())
        process.standardInput = FileHandle.nullDevice
        (process.standardOutput, process.standardError) = (output, error)
        do {
            try process.run()
        } catch {
            throw CommandFailure("cannot start \(program)", advice: PlainReason.of(error))
        }
        // Read beside one another: whoever waits for a full pipe would wait for ever.
        let complaints = Gathered(error.fileHandleForReading)
        let answers = Gathered(output.fileHandleForReading)
        process.waitUntilExit()
        return Subprocess(status: process.terminationStatus, output: answers.wait(), error: String(decoding: complaints.wait(), as: UTF8.self))
    }
}

/// All that comes out of a pipe.
private final class Gathered: @unchecked Sendable {
    // Written by the one thread that reads, and read when that has ended.
    private var content = Data()
    private let end = DispatchSemaphore(value: 0)

    init(_ handle: FileHandle) {
        Thread.detachNewThread {
            self.content = handle.readDataToEndOfFile()
            self.end.signal()
        }
    }

    func wait() -> Data {
        end.wait()
        return content
    }
}
