public import Storage

/// The tables of `CatalogueSchema.swift` in PostgreSQL's words: whoever adds a step there adds one here, with the same columns.
extension CatalogueStore {
    /// Released steps never change; a change is a new step. Each statement may run again.
    public static let postgresSteps = [
        Migration("1-tables", statements: postgresTables + UsageStore.postgresTables),
        Migration("2-history-stays", statements: historyStays, isAdditive: true),
        Migration(
            "3-statement-keys",
            sql: """
                CREATE TABLE IF NOT EXISTS statement_key (
                    kid \(text) PRIMARY KEY, jwk \(text) NOT NULL, since_ms BIGINT NOT NULL, retired_at_ms BIGINT
                )
                """, isAdditive: true),
        Migration(
            "4-signed-in-people",
            statements: ["role", "programmers"].map {
                #"ALTER TABLE administrator_session ADD COLUMN IF NOT EXISTS \#($0) \#(text) NOT NULL DEFAULT ''"#
            }, isAdditive: true),
        Migration(
            "5-start-of-audit",
            sql: """
                CREATE TABLE IF NOT EXISTS audit_start (number BIGINT PRIMARY KEY, record_sha256 \(text) NOT NULL, removed_at_ms BIGINT NOT NULL)
                """, isAdditive: true),
        Migration("6-start-of-audit-stays", statements: startOfAudit, isAdditive: true),
        Migration(
            "7-owners-of-files",
            statements: [
                """
                CREATE TABLE IF NOT EXISTS secret_owner (
                    reference \(text) PRIMARY KEY, programmer \(text) NOT NULL, is_open BIGINT NOT NULL, changed_at_ms BIGINT NOT NULL
                )
                """,
                "CREATE TABLE IF NOT EXISTS progress (name \(text) PRIMARY KEY, value BIGINT NOT NULL)",
            ], isAdditive: true),
        Migration(
            "8-lives",
            sql: """
                CREATE TABLE IF NOT EXISTS entry_life (
                    kind \(text) NOT NULL, id \(text) NOT NULL, owner \(text) NOT NULL, since_ms BIGINT NOT NULL, until_ms BIGINT,
                    PRIMARY KEY (kind, id, since_ms)
                )
                """, isAdditive: true),
    ]

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

    /// Compared and ordered by octets.
    private static let text = #"TEXT COLLATE "C""#

    private static let postgresTables = [
        #"CREATE TABLE IF NOT EXISTS store_identity ("only" BIGINT PRIMARY KEY CHECK ("only" = 1), id \#(text) NOT NULL)"#,
        """
        CREATE TABLE IF NOT EXISTS published (
            "only" BIGINT PRIMARY KEY CHECK ("only" = 1), version BIGINT NOT NULL, changed_at_ms BIGINT NOT NULL, content_sha256 \(text) NOT NULL,
            inputs_sha256 \(text) NOT NULL DEFAULT '', content BYTEA, content_version BIGINT NOT NULL DEFAULT 0, reading BIGINT NOT NULL DEFAULT 0
        )
        """,
        """
        CREATE TABLE IF NOT EXISTS statement (
            software_id \(text) PRIMARY KEY, application_id \(text) NOT NULL, created_at_ms BIGINT NOT NULL, revoked_at_ms BIGINT
        )
        """,
        "CREATE INDEX IF NOT EXISTS statement_by_application ON statement (application_id)",
        "CREATE TABLE IF NOT EXISTS document (sha256 \(text) PRIMARY KEY, content BYTEA NOT NULL)",
        """
        CREATE TABLE IF NOT EXISTS version (
            version BIGINT PRIMARY KEY, created_at_ms BIGINT NOT NULL, author \(text) NOT NULL, approver \(text) NOT NULL,
            description \(text) NOT NULL, origin BIGINT NOT NULL, document_sha256 \(text) NOT NULL REFERENCES document (sha256),
            programmers \(text) NOT NULL, previous_sha256 \(text) NOT NULL, record_sha256 \(text) NOT NULL
        )
        """,
        """
        CREATE TABLE IF NOT EXISTS audit (
            number BIGINT PRIMARY KEY, created_at_ms BIGINT NOT NULL, author \(text) NOT NULL, action \(text) NOT NULL, text \(text) NOT NULL,
            version BIGINT NOT NULL, programmers \(text) NOT NULL, previous_sha256 \(text) NOT NULL, record_sha256 \(text) NOT NULL
        )
        """,
        """
        CREATE TABLE IF NOT EXISTS draft (
            author \(text) PRIMARY KEY, base_version BIGINT NOT NULL, content BYTEA NOT NULL, changed_at_ms BIGINT NOT NULL
        )
        """,
        """
        CREATE TABLE IF NOT EXISTS pending_push (
            id \(text) PRIMARY KEY, author \(text) NOT NULL, description \(text) NOT NULL, base_version BIGINT NOT NULL, content BYTEA NOT NULL,
            created_at_ms BIGINT NOT NULL
        )
        """,
        """
        CREATE TABLE IF NOT EXISTS degradation_rule (
            id \(text) PRIMARY KEY, rule BYTEA NOT NULL, author \(text) NOT NULL, reason \(text) NOT NULL, ends_at_ms BIGINT NOT NULL, number BIGINT
        )
        """,
        "CREATE INDEX IF NOT EXISTS degradation_rule_by_end ON degradation_rule (ends_at_ms)",
        """
        CREATE TABLE IF NOT EXISTS former_degradation_rule (
            number BIGINT PRIMARY KEY, rule BYTEA NOT NULL, author \(text) NOT NULL, reason \(text) NOT NULL, ended_at_ms BIGINT NOT NULL
        )
        """,
        """
        CREATE TABLE IF NOT EXISTS administrator_session (
            digest \(text) PRIMARY KEY, name \(text) NOT NULL, mark \(text) NOT NULL, client \(text) NOT NULL, opened_at_ms BIGINT NOT NULL,
            used_at_ms BIGINT NOT NULL, ends_at_ms BIGINT NOT NULL
        )
        """,
        "CREATE INDEX IF NOT EXISTS administrator_session_by_end ON administrator_session (ends_at_ms)",
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
