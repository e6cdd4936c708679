internal import Storage

/// The tables of `AutoSignInStore+Schema.swift` and `AutoSignInStore+AppleSchema.swift` in PostgreSQL's words: whoever adds a step there adds one
/// here, with the same columns.
enum PostgresAutoSignInSchema {
    /// Compared and ordered by octets.
    static let text = #"TEXT COLLATE "C""#

    /// Released steps never change; a change is a new step. Each statement may run again.
    static let steps = [
        Migration("1-tables", statements: metadata + accounts + sessions + families + calls + browsers + appleLinks + appleSignIns),
        Migration("2-people", statements: people, isAdditive: true),
    ]

    private static let people = [
        "CREATE INDEX IF NOT EXISTS account_login_person ON account_login (mvpd, user_id)",
        "CREATE INDEX IF NOT EXISTS family_device ON family (device_id)",
        "CREATE INDEX IF NOT EXISTS redemption_device ON redemption (device_id)",
        "CREATE INDEX IF NOT EXISTS security_event_account ON security_event (account_id)",
        "CREATE INDEX IF NOT EXISTS security_event_family ON security_event (family_id)",
        """
        CREATE TABLE IF NOT EXISTS erased (subject \(text) PRIMARY KEY, erased_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL)
        """,
        "CREATE INDEX IF NOT EXISTS erased_expiry ON erased (expires_at_ms)",
    ]

    private static let metadata = [
        "CREATE TABLE IF NOT EXISTS store_metadata (name \(text) PRIMARY KEY, value \(text) NOT NULL)",
        """
        INSERT INTO store_metadata (name, value) VALUES ('owner', '\(AutoSignInStore.owner)'), ('layout', '\(AutoSignInStore.layout)')
        ON CONFLICT (name) DO NOTHING
        """,
    ]

    private static let accounts = [
        """
        CREATE TABLE IF NOT EXISTS account (
            id \(text) PRIMARY KEY, programmer \(text) NOT NULL, created_at_ms BIGINT NOT NULL, is_locked BIGINT NOT NULL, closed_at_ms BIGINT,
            given_name \(text), family_name \(text), email \(text), is_email_verified BIGINT NOT NULL, is_email_private BIGINT NOT NULL
        )
        """,
        "CREATE INDEX IF NOT EXISTS account_email_folded ON account (programmer, lower(email)) WHERE email IS NOT NULL",
        """
        CREATE TABLE IF NOT EXISTS account_login (
            programmer \(text) NOT NULL, mvpd \(text) NOT NULL, user_id \(text) NOT NULL, account_id \(text) NOT NULL,
            attached_at_ms BIGINT NOT NULL, PRIMARY KEY (programmer, mvpd, user_id)
        )
        """,
        "CREATE INDEX IF NOT EXISTS account_login_account ON account_login (account_id)",
    ]

    private static let sessions = [
        """
        CREATE TABLE IF NOT EXISTS streaming_session (
            id \(text) NOT NULL UNIQUE, account_id \(text) NOT NULL, programmer \(text) NOT NULL, requestor \(text) NOT NULL,
            device_id \(text) NOT NULL, device_label \(text) NOT NULL, client_id \(text) NOT NULL, family_id \(text), link_id \(text),
            apple_client_id \(text), scopes \(text) NOT NULL, has_tv_session BIGINT NOT NULL, created_at_ms BIGINT NOT NULL,
            last_used_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL
        )
        """,
        "CREATE INDEX IF NOT EXISTS streaming_session_account ON streaming_session (account_id)",
        "CREATE INDEX IF NOT EXISTS streaming_session_family ON streaming_session (family_id) WHERE family_id IS NOT NULL",
        "CREATE INDEX IF NOT EXISTS streaming_session_link ON streaming_session (link_id) WHERE link_id IS NOT NULL",
        "CREATE INDEX IF NOT EXISTS streaming_session_device ON streaming_session (device_id, requestor)",
        "CREATE INDEX IF NOT EXISTS streaming_session_expiry ON streaming_session (expires_at_ms)",
        "CREATE INDEX IF NOT EXISTS streaming_session_use ON streaming_session (last_used_at_ms)",
    ]

    private static let families = [
        """
        CREATE TABLE IF NOT EXISTS family (
            id \(text) NOT NULL UNIQUE, account_id \(text) NOT NULL, programmer \(text) NOT NULL, bundle_id \(text) NOT NULL,
            environment BIGINT NOT NULL, state BIGINT NOT NULL, link_id \(text), device_id \(text) NOT NULL, device_label \(text) NOT NULL,
            created_at_ms BIGINT NOT NULL, last_used_at_ms BIGINT, idle_at_ms BIGINT, revoked_at_ms BIGINT, reason \(text) NOT NULL,
            forget_at_ms BIGINT
        )
        """,
        "CREATE INDEX IF NOT EXISTS family_account ON family (account_id)",
        "CREATE INDEX IF NOT EXISTS family_link ON family (link_id) WHERE link_id IS NOT NULL",
        "CREATE INDEX IF NOT EXISTS family_idle ON family (idle_at_ms) WHERE idle_at_ms IS NOT NULL",
        "CREATE INDEX IF NOT EXISTS family_forget ON family (forget_at_ms) WHERE forget_at_ms IS NOT NULL",
        """
        CREATE TABLE IF NOT EXISTS token_version (
            id \(text) NOT NULL UNIQUE, family_id \(text) NOT NULL, number BIGINT NOT NULL, comparison BYTEA NOT NULL, sealed BYTEA,
            state BIGINT NOT NULL, created_at_ms BIGINT NOT NULL, activated_at_ms BIGINT, rotate_at_ms BIGINT, superseded_at_ms BIGINT,
            forget_at_ms BIGINT, UNIQUE (family_id, number)
        )
        """,
        "CREATE UNIQUE INDEX IF NOT EXISTS token_version_active ON token_version (family_id) WHERE state = 2",
        "CREATE INDEX IF NOT EXISTS token_version_rotation ON token_version (rotate_at_ms) WHERE rotate_at_ms IS NOT NULL",
        "CREATE INDEX IF NOT EXISTS token_version_forget ON token_version (forget_at_ms) WHERE forget_at_ms IS NOT NULL",
        """
        CREATE TABLE IF NOT EXISTS redemption (
            family_id \(text) NOT NULL, device_id \(text) NOT NULL, address_hash BYTEA NOT NULL, outcome \(text) NOT NULL, at_ms BIGINT NOT NULL,
            expires_at_ms BIGINT NOT NULL
        )
        """,
        "CREATE INDEX IF NOT EXISTS redemption_family ON redemption (family_id, device_id)",
        "CREATE INDEX IF NOT EXISTS redemption_expiry ON redemption (expires_at_ms)",
    ]

    private static let calls = [
        """
        CREATE TABLE IF NOT EXISTS idempotency (
            place BYTEA NOT NULL UNIQUE, request BYTEA NOT NULL, answer BYTEA NOT NULL, expires_at_ms BIGINT NOT NULL
        )
        """,
        "CREATE INDEX IF NOT EXISTS idempotency_expiry ON idempotency (expires_at_ms)",
        // The order of a queue is `lane_no`: ids do not follow commits.
        """
        CREATE TABLE IF NOT EXISTS outbox (
            id BIGSERIAL PRIMARY KEY, lane \(text) NOT NULL, call \(text) NOT NULL, programmer \(text) NOT NULL, subject \(text) NOT NULL,
            payload BYTEA NOT NULL, state BIGINT NOT NULL, is_claimed BIGINT NOT NULL, attempts BIGINT NOT NULL,
            refused_credentials BIGINT NOT NULL, is_unclear BIGINT NOT NULL, last_status BIGINT NOT NULL, created_at_ms BIGINT NOT NULL,
            began_at_ms BIGINT NOT NULL, next_at_ms BIGINT NOT NULL, given_up_at_ms BIGINT, lane_no BIGINT NOT NULL, UNIQUE (lane, lane_no)
        )
        """,
        "CREATE INDEX IF NOT EXISTS outbox_due ON outbox (state, next_at_ms)",
        """
        CREATE TABLE IF NOT EXISTS security_event (
            at_ms BIGINT NOT NULL, kind \(text) NOT NULL, family_id \(text) NOT NULL, account_id \(text) NOT NULL, requestor \(text) NOT NULL,
            expires_at_ms BIGINT NOT NULL, number BIGINT NOT NULL DEFAULT 0
        )
        """,
        "CREATE INDEX IF NOT EXISTS security_event_time ON security_event (at_ms)",
        "CREATE INDEX IF NOT EXISTS security_event_expiry ON security_event (expires_at_ms)",
    ]

    private static let browsers = [
        """
        CREATE TABLE IF NOT EXISTS web_link (
            handle BYTEA NOT NULL UNIQUE, account_id \(text) NOT NULL, programmer \(text) NOT NULL, requestor \(text) NOT NULL,
            expires_at_ms BIGINT NOT NULL
        )
        """,
        "CREATE INDEX IF NOT EXISTS web_link_expiry ON web_link (expires_at_ms)",
        "CREATE INDEX IF NOT EXISTS web_link_account ON web_link (account_id)",
        """
        CREATE TABLE IF NOT EXISTS web_session (
            secret BYTEA NOT NULL UNIQUE, account_id \(text) NOT NULL, programmer \(text) NOT NULL, requestor \(text) NOT NULL,
            expires_at_ms BIGINT NOT NULL
        )
        """,
        "CREATE INDEX IF NOT EXISTS web_session_expiry ON web_session (expires_at_ms)",
        "CREATE INDEX IF NOT EXISTS web_session_account ON web_session (account_id)",
    ]
}

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
