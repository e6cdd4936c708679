internal import Storage

extension PostgresAutoSignInSchema {
    static let appleLinks = [
        """
        CREATE TABLE IF NOT EXISTS apple_link (
            id \(text) NOT NULL UNIQUE, programmer \(text) NOT NULL, team \(text) NOT NULL, subject \(text) NOT NULL, account_id \(text) NOT NULL,
            real_user_status BIGINT, is_mail_allowed BIGINT NOT NULL, mail_changed_at_ms BIGINT, created_at_ms BIGINT NOT NULL,
            authorized_at_ms BIGINT NOT NULL, UNIQUE (team, subject), UNIQUE (account_id, team)
        )
        """,
        """
        CREATE TABLE IF NOT EXISTS apple_consent (
            link_id \(text) NOT NULL, group_id \(text) NOT NULL, authorized_at_ms BIGINT NOT NULL, revoked_at_ms BIGINT,
            PRIMARY KEY (link_id, group_id)
        )
        """,
        """
        CREATE TABLE IF NOT EXISTS apple_grant (
            link_id \(text) NOT NULL, client_id \(text) NOT NULL, group_id \(text) NOT NULL, sealed BYTEA NOT NULL, validated_at_ms BIGINT NOT NULL,
            next_check_at_ms BIGINT NOT NULL, unclear_since_ms BIGINT, UNIQUE (link_id, client_id)
        )
        """,
        "CREATE INDEX IF NOT EXISTS apple_grant_due ON apple_grant (next_check_at_ms)",
        """
        CREATE TABLE IF NOT EXISTS apple_transfer (
            team \(text) NOT NULL, transfer_subject \(text) NOT NULL, programmer \(text) NOT NULL, account_id \(text) NOT NULL,
            accepted_at_ms BIGINT NOT NULL, UNIQUE (team, transfer_subject)
        )
        """,
        "CREATE INDEX IF NOT EXISTS apple_transfer_account ON apple_transfer (account_id)",
    ]

    static let appleSignIns = [
        """
        CREATE TABLE IF NOT EXISTS apple_nonce (
            digest BYTEA NOT NULL UNIQUE, holder \(text) NOT NULL, client_id \(text) NOT NULL, expires_at_ms BIGINT NOT NULL
        )
        """,
        "CREATE INDEX IF NOT EXISTS apple_nonce_expiry ON apple_nonce (expires_at_ms)",
        """
        CREATE TABLE IF NOT EXISTS apple_spent (
            kind \(text) NOT NULL, digest BYTEA NOT NULL, expires_at_ms BIGINT NOT NULL, UNIQUE (kind, digest)
        )
        """,
        "CREATE INDEX IF NOT EXISTS apple_spent_expiry ON apple_spent (expires_at_ms)",
        """
        CREATE TABLE IF NOT EXISTS apple_ticket (
            digest BYTEA NOT NULL UNIQUE, holder \(text) NOT NULL, sealed BYTEA NOT NULL, expires_at_ms BIGINT NOT NULL
        )
        """,
        "CREATE INDEX IF NOT EXISTS apple_ticket_expiry ON apple_ticket (expires_at_ms)",
        """
        CREATE TABLE IF NOT EXISTS apple_web_state (
            digest BYTEA NOT NULL UNIQUE, browser BYTEA NOT NULL, requestor \(text) NOT NULL, client_id \(text) NOT NULL, return_url \(text) NOT NULL,
            expires_at_ms BIGINT NOT NULL
        )
        """,
        "CREATE INDEX IF NOT EXISTS apple_web_state_expiry ON apple_web_state (expires_at_ms)",
        """
        CREATE TABLE IF NOT EXISTS apple_notification (
            team \(text) NOT NULL, jti \(text) NOT NULL, type \(text) NOT NULL, received_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL,
            UNIQUE (team, jti)
        )
        """,
        "CREATE INDEX IF NOT EXISTS apple_notification_expiry ON apple_notification (expires_at_ms)",
        """
        CREATE TABLE IF NOT EXISTS apple_key_set (
            id BIGINT PRIMARY KEY CHECK (id = 1), document BYTEA NOT NULL, fetched_at_ms BIGINT NOT NULL, lifetime_ms BIGINT NOT NULL
        )
        """,
    ]
}
