public import Storage

/// The tables of `CatalogueSchema.swift` in PostgreSQL, with triggers in its words.
extension CatalogueStore {
    /// Released steps never change. A new step of the file has one here by itself, under its own name, but for its triggers.
    public static let postgresSteps = PostgresSteps(of: migrations)
        .step("1-tables", through: "8-sessions").step("2-history-stays", own: historyStays)
        .step("3-statement-keys", through: "9-statement-keys").step("4-signed-in-people", through: "10-signed-in-people")
        .step("5-start-of-audit", through: "11-start-of-audit").step("6-start-of-audit-stays", own: startOfAudit)
        .step("7-owners-of-files", through: "12-owners-of-files").step("8-lives", through: "13-lives").all

    private static let startOfAudit = [
        "SET LOCAL client_min_messages = warning",
        """
        CREATE OR REPLACE FUNCTION audit_remains() RETURNS trigger LANGUAGE plpgsql AS $body$
        BEGIN
            IF TG_OP = 'DELETE' AND OLD.number <= coalesce((SELECT max(number) FROM audit_start), 0) THEN
                RETURN OLD;
            END IF;
            RAISE EXCEPTION 'an audit record never changes, and is never deleted before its time' USING ERRCODE = 'restrict_violation';
        END
        $body$
        """,
        "DROP TRIGGER IF EXISTS audit_stays ON audit",
        "CREATE TRIGGER audit_stays BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION audit_remains()",
        "DROP TRIGGER IF EXISTS audit_start_stays ON audit_start",
        "CREATE TRIGGER audit_start_stays BEFORE UPDATE OR DELETE ON audit_start FOR EACH ROW EXECUTE FUNCTION history_stays()",
        "DROP TRIGGER IF EXISTS audit_start_remains ON audit_start",
        "CREATE TRIGGER audit_start_remains BEFORE TRUNCATE ON audit_start FOR EACH STATEMENT EXECUTE FUNCTION history_stays()",
    ]

    /// A role that does not own the tables may not take the triggers away.
    private static let historyStays =
        [
            // The notice of a missing trigger is nothing to tell.
            "SET LOCAL client_min_messages = warning",
            """
            CREATE OR REPLACE FUNCTION history_stays() RETURNS trigger LANGUAGE plpgsql AS $body$
            BEGIN
                RAISE EXCEPTION 'the history of the catalogue never changes' USING ERRCODE = 'restrict_violation';
            END
            $body$
            """,
        ]
        + ["version", "audit", "document"].flatMap { table in
            [
                "DROP TRIGGER IF EXISTS \(table)_stays ON \(table)",
                "CREATE TRIGGER \(table)_stays BEFORE UPDATE OR DELETE ON \(table) FOR EACH ROW EXECUTE FUNCTION history_stays()",
                "DROP TRIGGER IF EXISTS \(table)_remains ON \(table)",
                "CREATE TRIGGER \(table)_remains BEFORE TRUNCATE ON \(table) FOR EACH STATEMENT EXECUTE FUNCTION history_stays()",
            ]
        }
}
