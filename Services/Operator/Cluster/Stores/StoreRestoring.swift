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
    /// Whether what is in the place may go.
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
