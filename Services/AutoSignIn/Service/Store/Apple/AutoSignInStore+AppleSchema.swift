internal import Faults
internal import Storage

extension AutoSignInStore {
    /// Tables of Sign in with Apple; released steps never change.
    static let appleMigrations = [
        Migration(
            "6-apple-links",
            sql: """
                CREATE TABLE apple_link (
                    id TEXT NOT NULL UNIQUE, programmer TEXT NOT NULL, team TEXT NOT NULL, subject TEXT NOT NULL, account_id TEXT NOT NULL,
                    real_user_status INTEGER, is_mail_allowed INTEGER NOT NULL, mail_changed_at_ms INTEGER, created_at_ms INTEGER NOT NULL,
                    authorized_at_ms INTEGER NOT NULL, UNIQUE (team, subject), UNIQUE (account_id, team)
                );
                CREATE TABLE apple_consent (
                    link_id TEXT NOT NULL, group_id TEXT NOT NULL, authorized_at_ms INTEGER NOT NULL, revoked_at_ms INTEGER,
                    PRIMARY KEY (link_id, group_id)
                ) WITHOUT ROWID;
                CREATE TABLE apple_grant (
                    link_id TEXT NOT NULL, client_id TEXT NOT NULL, group_id TEXT NOT NULL, sealed BLOB NOT NULL, validated_at_ms INTEGER NOT NULL,
                    next_check_at_ms INTEGER NOT NULL, unclear_since_ms INTEGER, UNIQUE (link_id, client_id)
                );
                CREATE INDEX apple_grant_due ON apple_grant (next_check_at_ms);
                CREATE TABLE apple_transfer (
                    team TEXT NOT NULL, transfer_subject TEXT NOT NULL, programmer TEXT NOT NULL, account_id TEXT NOT NULL,
                    accepted_at_ms INTEGER NOT NULL, UNIQUE (team, transfer_subject)
                );
                """),
        Migration(
            "7-apple-sign-ins",
            sql: """
                CREATE TABLE apple_nonce (
                    digest BLOB NOT NULL UNIQUE, holder TEXT NOT NULL, client_id TEXT NOT NULL, expires_at_ms INTEGER NOT NULL
                );
                CREATE INDEX apple_nonce_expiry ON apple_nonce (expires_at_ms);
                CREATE TABLE apple_spent (kind TEXT NOT NULL, digest BLOB NOT NULL, expires_at_ms INTEGER NOT NULL, UNIQUE (kind, digest));
                CREATE INDEX apple_spent_expiry ON apple_spent (expires_at_ms);
                CREATE TABLE apple_ticket (
                    digest BLOB NOT NULL UNIQUE, holder TEXT NOT NULL, sealed BLOB NOT NULL, expires_at_ms INTEGER NOT NULL
                );
                CREATE INDEX apple_ticket_expiry ON apple_ticket (expires_at_ms);
                CREATE TABLE apple_web_state (
                    digest BLOB NOT NULL UNIQUE, browser BLOB NOT NULL, requestor TEXT NOT NULL, client_id TEXT NOT NULL, return_url TEXT NOT NULL,
                    expires_at_ms INTEGER NOT NULL
                );
                CREATE INDEX apple_web_state_expiry ON apple_web_state (expires_at_ms);
                CREATE TABLE apple_notification (
                    team TEXT NOT NULL, jti TEXT NOT NULL, type TEXT NOT NULL, received_at_ms INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL,
                    UNIQUE (team, jti)
                );
                CREATE INDEX apple_notification_expiry ON apple_notification (expires_at_ms);
                CREATE TABLE apple_key_set (
                    id INTEGER PRIMARY KEY CHECK (id = 1), document BLOB NOT NULL, fetched_at_ms INTEGER NOT NULL, lifetime_ms INTEGER NOT NULL
                );
                """),
    ]

    /// The rows of these tables that are removed once they are over.
    static let appleSweeps = [
        Sweep(table: "apple_nonce", key: ["digest"], expiryColumn: "expires_at_ms"),
        Sweep(table: "apple_spent", key: ["kind", "digest"], expiryColumn: "expires_at_ms"),
        Sweep(table: "apple_ticket", key: ["digest"], expiryColumn: "expires_at_ms"),
        Sweep(table: "apple_web_state", key: ["digest"], expiryColumn: "expires_at_ms"),
        Sweep(table: "apple_notification", key: ["team", "jti"], expiryColumn: "expires_at_ms"),
    ]
}

/// Apple's keys on disk, so that a restart while Apple is away costs no sign-in (apple §4).
extension AutoSignInStore {
    func keptKeys() async throws(Fault) -> KeptAppleKeys? {
        try await store.first("SELECT document, fetched_at_ms, lifetime_ms FROM apple_key_set") { columns in
            KeptAppleKeys(document: columns.next(), fetchedAt: columns.next(), lifetime: .milliseconds(columns.next() as Int64))
        }
    }

    /// When several copies fetch, the last to do so counts, whichever is the last to write.
    func keep(_ keys: KeptAppleKeys) async throws(Fault) {
        try await store.change(
            """
            INSERT INTO apple_key_set (id, document, fetched_at_ms, lifetime_ms) VALUES (1, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET document = excluded.document, fetched_at_ms = excluded.fetched_at_ms,
                lifetime_ms = excluded.lifetime_ms WHERE apple_key_set.fetched_at_ms < excluded.fetched_at_ms
            """, [keys.document, keys.fetchedAt, keys.lifetime.components.seconds * 1000])
    }
}
