public import Storage

extension CatalogueStore {
    public static let migrations = [
        Migration(
            "1-catalogue",
            sql: """
                CREATE TABLE catalogue_version (
                    version INTEGER PRIMARY KEY,
                    changed_at_ms INTEGER NOT NULL,
                    -- An encoded Configuration, without version and moment.
                    content BLOB NOT NULL
                );
                CREATE TABLE software_statement (
                    application_id TEXT PRIMARY KEY,
                    software_id TEXT NOT NULL UNIQUE,
                    created_at_ms INTEGER NOT NULL
                );
                """),
        Migration("2-administration", sql: administration),
        Migration("3-published-content", sql: publishedContent, isAdditive: true),
        Migration("4-numbers-of-rules", statements: numbersOfRules, isAdditive: true),
        Migration("5-former-rules", sql: formerRules, isAdditive: true),
        Migration("6-usage", sql: UsageStore.schema, isAdditive: true),
        Migration("7-documents-stay", statements: documentsStay, isAdditive: true),
        Migration("8-sessions", sql: KeptSession.schema, isAdditive: true),
        Migration("9-statement-keys", sql: statementKeys, isAdditive: true),
        Migration("10-signed-in-people", statements: KeptSession.signedInColumns, isAdditive: true),
        Migration("11-start-of-audit", statements: startOfAudit, isAdditive: true),
        Migration("12-owners-of-files", sql: ownersOfFiles, isAdditive: true),
        Migration("13-lives", sql: lives, isAdditive: true),
    ]

    private static let lives = """
        -- Since when an id, or an identity that apps bring along, has one owner.
        CREATE TABLE entry_life (
            kind TEXT NOT NULL,
            id TEXT NOT NULL,
            owner TEXT NOT NULL,
            since_ms INTEGER NOT NULL,
            until_ms INTEGER,
            PRIMARY KEY (kind, id, since_ms)
        );
        """

    private static let ownersOfFiles = """
        -- Whose a file of a secret is, where it is not operators', or nobody has decided.
        CREATE TABLE secret_owner (
            reference TEXT PRIMARY KEY,
            -- Empty: operators'.
            programmer TEXT NOT NULL,
            is_open INTEGER NOT NULL,
            changed_at_ms INTEGER NOT NULL
        );
        -- How far what is made of the versions is.
        CREATE TABLE progress (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
        """

    /// The published content is stored, so that every copy serves the same octets, those of a newer release too.
    private static let publishedContent = """
        ALTER TABLE published ADD COLUMN inputs_sha256 TEXT NOT NULL DEFAULT '';
        -- The encoded Configuration, with version and moment, and its number: a release that does not know the column leaves it behind.
        ALTER TABLE published ADD COLUMN content BLOB;
        ALTER TABLE published ADD COLUMN content_version INTEGER NOT NULL DEFAULT 0;
        -- Of the reader of documents that made it.
        ALTER TABLE published ADD COLUMN reading INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE store_identity (only INTEGER PRIMARY KEY CHECK (only = 1), id TEXT NOT NULL);
        """

    private static let formerRules = """
        -- Degradation rules that ended, the newest of them.
        CREATE TABLE former_degradation_rule (
            number INTEGER PRIMARY KEY,
            -- An encoded DegradationRule.
            rule BLOB NOT NULL,
            author TEXT NOT NULL,
            reason TEXT NOT NULL,
            ended_at_ms INTEGER NOT NULL
        );
        """

    private static let statementKeys = """
        CREATE TABLE statement_key (
            kid TEXT PRIMARY KEY,
            -- The public key as JSON.
            jwk TEXT NOT NULL,
            since_ms INTEGER NOT NULL,
            retired_at_ms INTEGER
        )
        """

    /// Where the chain of audit records begins, once those whose time is over are removed: records after it stay.
    private static let startOfAudit = [
        "CREATE TABLE audit_start (number INTEGER PRIMARY KEY, record_sha256 TEXT NOT NULL, removed_at_ms INTEGER NOT NULL)",
        "CREATE TRIGGER audit_start_stays BEFORE UPDATE ON audit_start BEGIN SELECT RAISE(ABORT, 'the start of the audit log never changes'); END",
        "CREATE TRIGGER audit_start_remains BEFORE DELETE ON audit_start BEGIN SELECT RAISE(ABORT, 'the start of the audit log is never deleted'); END",
        "DROP TRIGGER audit_remains",
        """
        CREATE TRIGGER audit_remains BEFORE DELETE ON audit WHEN OLD.number > coalesce((SELECT max(number) FROM audit_start), 0) BEGIN
            SELECT RAISE(ABORT, 'an audit record is never deleted before its time');
        END
        """,
    ]

    private static let documentsStay = [
        "CREATE TRIGGER document_stays BEFORE UPDATE ON document BEGIN SELECT RAISE(ABORT, 'a document never changes'); END",
        "CREATE TRIGGER document_remains BEFORE DELETE ON document BEGIN SELECT RAISE(ABORT, 'a document is never deleted'); END",
    ]

    /// The order of rules is theirs, not of how SQLite keeps rows. A release that does not know the column gets it filled.
    private static let numbersOfRules = [
        "ALTER TABLE degradation_rule ADD COLUMN number INTEGER",
        "UPDATE degradation_rule SET number = rowid",
        """
        CREATE TRIGGER degradation_rule_number AFTER INSERT ON degradation_rule WHEN NEW.number IS NULL BEGIN
            UPDATE degradation_rule SET number = NEW.rowid WHERE id = NEW.id;
        END
        """,
    ]

    private static let administration = """
        -- What services have: grows with each change of the catalogue, of rules, of statements or of keys.
        CREATE TABLE published (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            version INTEGER NOT NULL,
            changed_at_ms INTEGER NOT NULL,
            -- Of the encoded Configuration, without version and moment.
            content_sha256 TEXT NOT NULL
        );
        INSERT INTO published SELECT 1, version, changed_at_ms, '' FROM catalogue_version ORDER BY version DESC LIMIT 1;
        DROP TABLE catalogue_version;

        CREATE TABLE statement (
            software_id TEXT PRIMARY KEY,
            application_id TEXT NOT NULL,
            created_at_ms INTEGER NOT NULL,
            revoked_at_ms INTEGER
        );
        CREATE INDEX statement_by_application ON statement (application_id);
        INSERT INTO statement SELECT software_id, application_id, created_at_ms, NULL FROM software_statement;
        DROP TABLE software_statement;

        CREATE TABLE document (sha256 TEXT PRIMARY KEY, content BLOB NOT NULL);
        CREATE TABLE version (
            version INTEGER PRIMARY KEY,
            created_at_ms INTEGER NOT NULL,
            author TEXT NOT NULL,
            approver TEXT NOT NULL,
            description TEXT NOT NULL,
            origin INTEGER NOT NULL,
            document_sha256 TEXT NOT NULL REFERENCES document,
            -- Ids of the programmers that it concerns, with a space between.
            programmers TEXT NOT NULL,
            previous_sha256 TEXT NOT NULL,
            record_sha256 TEXT NOT NULL
        );
        CREATE TABLE audit (
            number INTEGER PRIMARY KEY,
            created_at_ms INTEGER NOT NULL,
            author TEXT NOT NULL,
            action TEXT NOT NULL,
            text TEXT NOT NULL,
            version INTEGER NOT NULL,
            programmers TEXT NOT NULL,
            previous_sha256 TEXT NOT NULL,
            record_sha256 TEXT NOT NULL
        );
        CREATE TRIGGER version_stays BEFORE UPDATE ON version BEGIN SELECT RAISE(ABORT, 'a version never changes'); END;
        CREATE TRIGGER version_remains BEFORE DELETE ON version BEGIN SELECT RAISE(ABORT, 'a version is never deleted'); END;
        CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'an audit record never changes'); END;
        CREATE TRIGGER audit_remains BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'an audit record is never deleted'); END;

        CREATE TABLE draft (
            author TEXT PRIMARY KEY,
            base_version INTEGER NOT NULL,
            content BLOB NOT NULL,
            changed_at_ms INTEGER NOT NULL
        );
        CREATE TABLE pending_push (
            id TEXT PRIMARY KEY,
            author TEXT NOT NULL,
            description TEXT NOT NULL,
            base_version INTEGER NOT NULL,
            content BLOB NOT NULL,
            created_at_ms INTEGER NOT NULL
        );
        CREATE TABLE degradation_rule (
            id TEXT PRIMARY KEY,
            -- An encoded DegradationRule.
            rule BLOB NOT NULL,
            author TEXT NOT NULL,
            reason TEXT NOT NULL,
            ends_at_ms INTEGER NOT NULL
        );
        CREATE INDEX degradation_rule_by_end ON degradation_rule (ends_at_ms);
        """
}
