internal import Foundation
public import Storage
internal import StoragePostgres

/// The schemas that stores on a server have had since their first release, as releases wrote them: `Kept/SERVICE.sql`. The files never change.
public enum KeptSchemas {
    /// The differences between the schema of a kept store and the one that these steps make, a line each: with `-` where only the kept store has it,
    /// with `+` where only the steps have it. Later steps than the kept store's are left out. The order of columns is not compared: statements name
    /// theirs.
    /// - Parameters:
    ///   - service: Whose store it is, for example `config`.
    ///   - steps: All that this version knows.
    public static func differences(of service: String, steps: [Migration]) async throws -> [String] {
        let kept = try keptSteps(of: service)
        let same = Array(steps.prefix(kept.count))
        guard same.map(\.name) == kept.map(\.name), same.map(\.isAdditive) == kept.map(\.isAdditive) else { return ["the steps have other names"] }
        let expected = try await Set(description(of: [kept]))
        // A new store, and one of the first release that is brought up to date.
        var differences: [String] = []
        for releases in [[same], [[kept[0]], same]] {
            let found = try await Set(description(of: releases))
            differences += expected.subtracting(found).sorted().map { "- \($0)" } + found.subtracting(expected).sorted().map { "+ \($0)" }
        }
        return differences
    }

    private static func keptSteps(of service: String) throws -> [Migration] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Kept/\(service).sql")
        let parts = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "-- Step ").dropFirst()
        return parts.enumerated().map { index, part in
            let lines = part.split(separator: "\n", maxSplits: 1)
            return Migration(String(lines[0]), sql: String(lines[1]), isAdditive: index > 0)
        }
    }

    /// The tables, columns, indexes, constraints and triggers of a fresh schema, a line each, after releases with these steps have opened it in turn.
    private static func description(of releases: [[Migration]]) async throws -> [String] {
        let options = try PostgresServer.shared.options()
        for steps in releases.dropLast() {
            let former = try Store(postgres: options, name: "kept", steps: steps)
            await former.close()
        }
        let store = try Store(postgres: options, name: "kept", steps: releases[releases.count - 1])
        let lines = try await store.read { database in
            try queries.flatMap { query in try database.values(query) as [String] }
        }
        await store.close()
        return lines.map { $0.replacingOccurrences(of: "\(options.schema ?? "").", with: "") }
    }

    private static let queries: [Statement] = [
        """
        SELECT CAST(concat_ws(' ', 'column', table_name || '.' || column_name, data_type, collation_name, is_nullable, column_default) AS TEXT)
        FROM information_schema.columns WHERE table_schema = current_schema()
        """,
        "SELECT CAST(indexdef AS TEXT) FROM pg_indexes WHERE schemaname = current_schema()",
        """
        SELECT CAST(concat_ws(' ', 'constraint', CAST(CAST(conrelid AS regclass) AS TEXT), conname, pg_get_constraintdef(oid)) AS TEXT)
        FROM pg_constraint WHERE connamespace = CAST(current_schema() AS regnamespace)
        """,
        """
        SELECT CAST(pg_get_triggerdef(pg_trigger.oid) AS TEXT) FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
        WHERE NOT tgisinternal AND relnamespace = CAST(current_schema() AS regnamespace)
        """,
    ]
}
