public import Storage

extension AutoSignInStore {
    /// The number that releases before `schema_level` compare; it never changes again.
    static let layout = 2
    static let owner = "autosignin"

    /// All steps; released ones never change.
    public static let migrations =
        [
            Migration(
                "1-metadata",
                sql: """
                    CREATE TABLE store_metadata (name TEXT PRIMARY KEY, value TEXT NOT NULL);
                    INSERT INTO store_metadata (name, value) VALUES ('owner', '\(owner)'), ('layout', '1');
                    """)
        ] + accountMigrations + familyMigrations + callMigrations + appleMigrations + engineNeutralMigrations

    /// The same tables in PostgreSQL.
    public static var postgresSteps: [Migration] { PostgresAutoSignInSchema.steps }

    /// The rows that are removed once they are over.
    public static let sweeps =
        [
            Sweep(table: "streaming_session", key: ["id"], expiryColumn: "expires_at_ms"),
            Sweep(table: "family", key: ["id"], expiryColumn: "forget_at_ms"),
            Sweep(table: "token_version", key: ["id"], expiryColumn: "forget_at_ms"),
            Sweep(table: "redemption", key: ["family_id", "device_id", "expires_at_ms"], expiryColumn: "expires_at_ms"),
            Sweep(table: "idempotency", key: ["place"], expiryColumn: "expires_at_ms"),
            Sweep(table: "erased", key: ["subject"], expiryColumn: "expires_at_ms"),
            Sweep(table: "web_link", key: ["handle"], expiryColumn: "expires_at_ms"),
            Sweep(table: "web_session", key: ["secret"], expiryColumn: "expires_at_ms"),
            Sweep(table: "security_event", key: ["expires_at_ms"], expiryColumn: "expires_at_ms"),
        ] + appleSweeps

    private static let accountMigrations = [
        Migration(
            "2-accounts",
            sql: """
                UPDATE store_metadata SET value = '\(layout)' WHERE name = 'layout';
                CREATE TABLE account (
                    id TEXT PRIMARY KEY NOT NULL, programmer TEXT NOT NULL, created_at_ms INTEGER NOT NULL, is_locked INTEGER NOT NULL,
                    closed_at_ms INTEGER, given_name TEXT, family_name TEXT, email TEXT, is_email_verified INTEGER NOT NULL,
                    is_email_private INTEGER NOT NULL
                ) WITHOUT ROWID;
                CREATE INDEX account_email ON account (programmer, email COLLATE NOCASE) WHERE email IS NOT NULL;
                CREATE TABLE account_login (
                    programmer TEXT NOT NULL, mvpd TEXT NOT NULL, user_id TEXT NOT NULL, account_id TEXT NOT NULL,
                    attached_at_ms INTEGER NOT NULL, PRIMARY KEY (programmer, mvpd, user_id)
                ) WITHOUT ROWID;
                CREATE INDEX account_login_account ON account_login (account_id);
                """),
        Migration(
            "3-streaming-sessions",
            sql: """
                CREATE TABLE streaming_session (
                    id TEXT NOT NULL UNIQUE, account_id TEXT NOT NULL, programmer TEXT NOT NULL, requestor TEXT NOT NULL,
                    device_id TEXT NOT NULL, device_label TEXT NOT NULL, client_id TEXT NOT NULL, family_id TEXT, link_id TEXT,
                    apple_client_id TEXT, scopes TEXT NOT NULL, has_tv_session INTEGER NOT NULL, created_at_ms INTEGER NOT NULL,
                    last_used_at_ms INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL
                );
                CREATE INDEX streaming_session_account ON streaming_session (account_id);
                CREATE INDEX streaming_session_family ON streaming_session (family_id) WHERE family_id IS NOT NULL;
                CREATE INDEX streaming_session_link ON streaming_session (link_id) WHERE link_id IS NOT NULL;
                CREATE INDEX streaming_session_device ON streaming_session (device_id, requestor);
                CREATE INDEX streaming_session_expiry ON streaming_session (expires_at_ms);
                CREATE INDEX streaming_session_use ON streaming_session (last_used_at_ms);
                """),
    ]

    private static let familyMigrations = [
        Migration(
            "4-families",
            sql: """
                CREATE TABLE family (
                    id TEXT NOT NULL UNIQUE, account_id TEXT NOT NULL, programmer TEXT NOT NULL, bundle_id TEXT NOT NULL,
                    environment INTEGER NOT NULL, state INTEGER NOT NULL, link_id TEXT, device_id TEXT NOT NULL, device_label TEXT NOT NULL,
                    created_at_ms INTEGER NOT NULL, last_used_at_ms INTEGER, idle_at_ms INTEGER, revoked_at_ms INTEGER, reason TEXT NOT NULL,
                    forget_at_ms INTEGER
                );
                CREATE INDEX family_account ON family (account_id);
                CREATE INDEX family_link ON family (link_id) WHERE link_id IS NOT NULL;
                CREATE INDEX family_idle ON family (idle_at_ms) WHERE idle_at_ms IS NOT NULL;
                CREATE INDEX family_forget ON family (forget_at_ms) WHERE forget_at_ms IS NOT NULL;
                CREATE TABLE token_version (
                    id TEXT NOT NULL UNIQUE, family_id TEXT NOT NULL, number INTEGER NOT NULL, comparison BLOB NOT NULL, sealed BLOB,
                    state INTEGER NOT NULL, created_at_ms INTEGER NOT NULL, activated_at_ms INTEGER, rotate_at_ms INTEGER,
                    superseded_at_ms INTEGER, forget_at_ms INTEGER, UNIQUE (family_id, number)
                );
                CREATE UNIQUE INDEX token_version_active ON token_version (family_id) WHERE state = 2;
                CREATE INDEX token_version_rotation ON token_version (rotate_at_ms) WHERE rotate_at_ms IS NOT NULL;
                CREATE INDEX token_version_forget ON token_version (forget_at_ms) WHERE forget_at_ms IS NOT NULL;
                CREATE TABLE redemption (
                    family_id TEXT NOT NULL, device_id TEXT NOT NULL, address_hash BLOB NOT NULL, outcome TEXT NOT NULL,
                    at_ms INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL
                );
                CREATE INDEX redemption_family ON redemption (family_id, device_id);
                CREATE INDEX redemption_expiry ON redemption (expires_at_ms);
                """)
    ]

    private static let engineNeutralMigrations = [
        // Letter case is folded as every engine can, and the order of what came in one millisecond is the rows' own.
        Migration(
            "8-folds-and-numbers",
            statements: [
                "CREATE INDEX account_email_folded ON account (programmer, lower(email)) WHERE email IS NOT NULL",
                "ALTER TABLE security_event ADD COLUMN number INTEGER NOT NULL DEFAULT 0", "UPDATE security_event SET number = rowid",
            ], isAdditive: true),
        // The order of a queue is its own: ids of other engines do not follow commits.
        Migration(
            "9-lane-numbers",
            statements: [
                "ALTER TABLE outbox ADD COLUMN lane_no INTEGER NOT NULL DEFAULT 0", "UPDATE outbox SET lane_no = id",
                "CREATE UNIQUE INDEX outbox_lane_no ON outbox (lane, lane_no) WHERE lane_no > 0",
                // The release before leaves the number out.
                """
                CREATE TRIGGER outbox_number AFTER INSERT ON outbox WHEN NEW.lane_no = 0 BEGIN
                    UPDATE outbox SET lane_no = (SELECT max(lane_no) + 1 FROM outbox WHERE lane = NEW.lane) WHERE id = NEW.id;
                END
                """,
            ], isAdditive: true),
        // By what a person's rows are found, and who was erased just now (Shared/Documents/Decisions/0081).
        Migration(
            "10-people",
            statements: [
                "CREATE INDEX account_login_person ON account_login (mvpd, user_id)", "CREATE INDEX family_device ON family (device_id)",
                "CREATE INDEX redemption_device ON redemption (device_id)", "CREATE INDEX web_link_account ON web_link (account_id)",
                "CREATE INDEX apple_transfer_account ON apple_transfer (account_id)",
                "CREATE INDEX security_event_account ON security_event (account_id)",
                "CREATE INDEX security_event_family ON security_event (family_id)",
                "CREATE TABLE erased (subject TEXT PRIMARY KEY NOT NULL, erased_at_ms INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL)",
                "CREATE INDEX erased_expiry ON erased (expires_at_ms)",
            ], isAdditive: true),
    ]

    private static let callMigrations = [
        Migration(
            "5-calls",
            sql: """
                CREATE TABLE idempotency (
                    place BLOB NOT NULL UNIQUE, request BLOB NOT NULL, answer BLOB NOT NULL, expires_at_ms INTEGER NOT NULL
                );
                CREATE INDEX idempotency_expiry ON idempotency (expires_at_ms);
                CREATE TABLE outbox (
                    id INTEGER PRIMARY KEY AUTOINCREMENT, lane TEXT NOT NULL, call TEXT NOT NULL, programmer TEXT NOT NULL,
                    subject TEXT NOT NULL, payload BLOB NOT NULL, state INTEGER NOT NULL, is_claimed INTEGER NOT NULL,
                    attempts INTEGER NOT NULL, refused_credentials INTEGER NOT NULL, is_unclear INTEGER NOT NULL, last_status INTEGER NOT NULL,
                    created_at_ms INTEGER NOT NULL, began_at_ms INTEGER NOT NULL, next_at_ms INTEGER NOT NULL, given_up_at_ms INTEGER
                );
                CREATE INDEX outbox_due ON outbox (state, next_at_ms);
                CREATE INDEX outbox_lane ON outbox (lane, state, id);
                CREATE TABLE security_event (
                    at_ms INTEGER NOT NULL, kind TEXT NOT NULL, family_id TEXT NOT NULL, account_id TEXT NOT NULL, requestor TEXT NOT NULL,
                    expires_at_ms INTEGER NOT NULL
                );
                CREATE INDEX security_event_time ON security_event (at_ms);
                CREATE INDEX security_event_expiry ON security_event (expires_at_ms);
                CREATE TABLE web_link (
                    handle BLOB NOT NULL UNIQUE, account_id TEXT NOT NULL, programmer TEXT NOT NULL, requestor TEXT NOT NULL,
                    expires_at_ms INTEGER NOT NULL
                );
                CREATE INDEX web_link_expiry ON web_link (expires_at_ms);
                CREATE TABLE web_session (
                    secret BLOB NOT NULL UNIQUE, account_id TEXT NOT NULL, programmer TEXT NOT NULL, requestor TEXT NOT NULL,
                    expires_at_ms INTEGER NOT NULL
                );
                CREATE INDEX web_session_expiry ON web_session (expires_at_ms);
                CREATE INDEX web_session_account ON web_session (account_id);
                """)
    ]
}
