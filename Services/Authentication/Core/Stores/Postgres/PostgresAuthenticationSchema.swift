internal import Storage

/// The tables of `SqlAuthenticationStore+Schema.swift` in PostgreSQL's words: whoever adds a step there adds one here, with the same columns.
enum PostgresAuthenticationSchema {
    /// Compared and ordered by octets.
    private static let text = #"TEXT COLLATE "C""#

    /// Released steps never change; a change is a new step. Each statement may run again.
    static let steps = [
        Migration(
            "1-tables",
            statements: [
                // Counts what memory of other copies must hear of; polled.
                "CREATE TABLE IF NOT EXISTS epoch (name \(text) PRIMARY KEY, value BIGINT NOT NULL)",
                "INSERT INTO epoch (name, value) VALUES ('client', 0) ON CONFLICT (name) DO NOTHING",
                // The reports of all copies; where the store is a file, each copy knows its own.
                """
                CREATE TABLE IF NOT EXISTS sign_in_report (
                    trace \(text) NOT NULL, ended_at_ms BIGINT NOT NULL, mvpd \(text) NOT NULL, content BYTEA NOT NULL, PRIMARY KEY (trace, ended_at_ms)
                )
                """,
                "CREATE INDEX IF NOT EXISTS sign_in_report_end ON sign_in_report (ended_at_ms)",
                "CREATE INDEX IF NOT EXISTS sign_in_report_mvpd ON sign_in_report (mvpd, ended_at_ms)",
                """
                CREATE TABLE IF NOT EXISTS client (
                    id \(text) PRIMARY KEY, secret_digest BYTEA NOT NULL, software_id \(text) NOT NULL, redirect_uri \(text) NOT NULL,
                    issued_at_ms BIGINT NOT NULL, last_used_ms BIGINT NOT NULL DEFAULT 0, has_acted BIGINT NOT NULL DEFAULT 1
                )
                """,
                """
                CREATE TABLE IF NOT EXISTS registration_code (
                    code \(text) NOT NULL UNIQUE, id \(text) NOT NULL UNIQUE, requestor \(text) NOT NULL, mvpd \(text) NOT NULL,
                    generated_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL, device_id \(text) NOT NULL, device BYTEA NOT NULL,
                    user_agent \(text) NOT NULL, device_type \(text) NOT NULL, app_id \(text) NOT NULL, device_user \(text) NOT NULL,
                    registration_url \(text) NOT NULL, client_id \(text) NOT NULL, is_used BIGINT NOT NULL, identity \(text), used_at_ms BIGINT,
                    api BIGINT NOT NULL DEFAULT 0, domain_name \(text) NOT NULL DEFAULT '', redirect_url \(text) NOT NULL DEFAULT '',
                    kept_until_ms BIGINT NOT NULL DEFAULT 0, service_identity \(text)
                )
                """,
                "CREATE INDEX IF NOT EXISTS registration_code_kept ON registration_code (kept_until_ms)",
                "CREATE INDEX IF NOT EXISTS registration_code_plan ON registration_code (device_id, client_id, requestor) WHERE api = 1",
                """
                CREATE TABLE IF NOT EXISTS pending_sign_in (
                    request_id \(text) NOT NULL UNIQUE, relay_state BYTEA NOT NULL UNIQUE, record_id \(text) NOT NULL, browser_secret BYTEA NOT NULL,
                    code \(text) NOT NULL, requestor \(text) NOT NULL, mvpd \(text) NOT NULL, issuer_sent \(text) NOT NULL,
                    redirect_url \(text) NOT NULL, started_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL, way BIGINT NOT NULL DEFAULT 0,
                    number BIGINT NOT NULL DEFAULT 0
                )
                """,
                "CREATE INDEX IF NOT EXISTS pending_sign_in_expiry ON pending_sign_in (expires_at_ms)",
                "CREATE INDEX IF NOT EXISTS pending_sign_in_record ON pending_sign_in (record_id)",
                """
                CREATE TABLE IF NOT EXISTS used_assertion (
                    issuer \(text) NOT NULL, assertion_id \(text) NOT NULL, expires_at_ms BIGINT NOT NULL, UNIQUE (issuer, assertion_id)
                )
                """,
                "CREATE INDEX IF NOT EXISTS used_assertion_expiry ON used_assertion (expires_at_ms)",
                """
                CREATE TABLE IF NOT EXISTS session (
                    device_id \(text) NOT NULL, requestor \(text) NOT NULL, id \(text) NOT NULL UNIQUE, mvpd \(text) NOT NULL, record_id \(text),
                    app_id \(text) NOT NULL, device_user \(text) NOT NULL, client_id \(text) NOT NULL, user_id \(text) NOT NULL,
                    upstream_user_id \(text) NOT NULL, name_id \(text) NOT NULL, name_format \(text) NOT NULL, name_qualifier \(text) NOT NULL,
                    sp_name_qualifier \(text) NOT NULL, sp_provided_id \(text) NOT NULL DEFAULT '', session_index \(text) NOT NULL,
                    is_home_based BIGINT NOT NULL, attributes BYTEA NOT NULL, created_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL,
                    kind BIGINT NOT NULL, rule \(text), identity \(text), trial \(text), authenticated_at_ms BIGINT NOT NULL,
                    updated_at_ms BIGINT NOT NULL, device BYTEA NOT NULL, upstream \(text), number BIGINT NOT NULL DEFAULT 0,
                    service_identity \(text), UNIQUE (device_id, requestor, client_id, mvpd)
                )
                """,
                "CREATE INDEX IF NOT EXISTS session_expiry ON session (expires_at_ms)",
                "CREATE INDEX IF NOT EXISTS session_identity ON session (identity) WHERE identity IS NOT NULL",
                "CREATE INDEX IF NOT EXISTS session_identity_expiry ON session (expires_at_ms) WHERE identity IS NOT NULL",
                "CREATE INDEX IF NOT EXISTS session_service_identity ON session (service_identity) WHERE service_identity IS NOT NULL",
                "CREATE INDEX IF NOT EXISTS session_service_identity_expiry ON session (expires_at_ms) WHERE service_identity IS NOT NULL",
                "CREATE INDEX IF NOT EXISTS session_name ON session (name_id)",
                "CREATE INDEX IF NOT EXISTS session_login ON session (user_id, requestor) WHERE kind <= 1",
                """
                CREATE TABLE IF NOT EXISTS trial (
                    id \(text) NOT NULL UNIQUE, requestor \(text) NOT NULL, mvpd \(text) NOT NULL, started_at_ms BIGINT NOT NULL,
                    expires_at_ms BIGINT NOT NULL
                )
                """,
                "CREATE INDEX IF NOT EXISTS trial_owner ON trial (requestor, mvpd)",
                """
                CREATE TABLE IF NOT EXISTS trial_device (
                    requestor \(text) NOT NULL, mvpd \(text) NOT NULL, device_id \(text) NOT NULL,
                    trial \(text) NOT NULL REFERENCES trial (id) ON DELETE CASCADE, PRIMARY KEY (requestor, mvpd, device_id)
                )
                """,
                "CREATE INDEX IF NOT EXISTS trial_device_trial ON trial_device (trial)",
                """
                CREATE TABLE IF NOT EXISTS trial_user (
                    requestor \(text) NOT NULL, mvpd \(text) NOT NULL, "user" \(text) NOT NULL,
                    trial \(text) NOT NULL REFERENCES trial (id) ON DELETE CASCADE, PRIMARY KEY (requestor, mvpd, "user")
                )
                """,
                "CREATE INDEX IF NOT EXISTS trial_user_trial ON trial_user (trial)",
                """
                CREATE TABLE IF NOT EXISTS trial_resource (
                    trial \(text) NOT NULL REFERENCES trial (id) ON DELETE CASCADE, resource \(text) NOT NULL, used_at_ms BIGINT NOT NULL,
                    number BIGINT NOT NULL DEFAULT 0, UNIQUE (trial, resource)
                )
                """,
                """
                CREATE TABLE IF NOT EXISTS profile_request (
                    request_id \(text) PRIMARY KEY, client_id \(text) NOT NULL, requestor \(text) NOT NULL, mvpd \(text) NOT NULL,
                    platform BIGINT NOT NULL, issuer_sent \(text) NOT NULL, created_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL
                )
                """,
                """
                CREATE INDEX IF NOT EXISTS profile_request_client ON profile_request (client_id, requestor, mvpd, platform, created_at_ms)
                """,
                "CREATE INDEX IF NOT EXISTS profile_request_expiry ON profile_request (expires_at_ms)",
                """
                CREATE TABLE IF NOT EXISTS logout (
                    device_id \(text) NOT NULL, requestor \(text) NOT NULL, logged_out_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL,
                    PRIMARY KEY (device_id, requestor)
                )
                """,
                "CREATE INDEX IF NOT EXISTS logout_expiry ON logout (expires_at_ms)",
                """
                CREATE TABLE IF NOT EXISTS pending_logout (
                    handle BYTEA PRIMARY KEY, request_id \(text), requestor \(text) NOT NULL, mvpd \(text) NOT NULL, name_id \(text) NOT NULL,
                    name_format \(text) NOT NULL, name_qualifier \(text) NOT NULL, sp_name_qualifier \(text) NOT NULL,
                    sp_provided_id \(text) NOT NULL DEFAULT '', session_index \(text) NOT NULL, redirect_url \(text) NOT NULL,
                    expires_at_ms BIGINT NOT NULL
                )
                """,
                "CREATE INDEX IF NOT EXISTS pending_logout_expiry ON pending_logout (expires_at_ms)",
                """
                CREATE TABLE IF NOT EXISTS upstream_token (
                    session_id \(text) PRIMARY KEY REFERENCES session (id) ON DELETE CASCADE, requestor \(text) NOT NULL, mvpd \(text) NOT NULL,
                    refresh_token BYTEA, access_token BYTEA NOT NULL, access_expires_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL,
                    refreshing_until_ms BIGINT
                )
                """,
                """
                CREATE TABLE IF NOT EXISTS sealed_secret (
                    reference \(text) PRIMARY KEY, owner \(text) NOT NULL, sealed BYTEA NOT NULL, written_at_ms BIGINT NOT NULL
                )
                """,
                "CREATE TABLE IF NOT EXISTS signed_nonce (digest BYTEA PRIMARY KEY, expires_at_ms BIGINT NOT NULL)",
                "CREATE INDEX IF NOT EXISTS signed_nonce_expiry ON signed_nonce (expires_at_ms)",
                """
                CREATE TABLE IF NOT EXISTS service_person (
                    id \(text) PRIMARY KEY, programmer \(text) NOT NULL, name_digest BYTEA NOT NULL, expires_at_ms BIGINT NOT NULL,
                    UNIQUE (programmer, name_digest)
                )
                """,
                "CREATE INDEX IF NOT EXISTS service_person_expiry ON service_person (expires_at_ms)",
                """
                CREATE TABLE IF NOT EXISTS service_device (
                    tie \(text) PRIMARY KEY, person \(text) NOT NULL REFERENCES service_person (id) ON DELETE CASCADE, device_id \(text) NOT NULL,
                    device BYTEA NOT NULL, seen_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL, UNIQUE (person, device_id)
                )
                """,
                "CREATE INDEX IF NOT EXISTS service_device_expiry ON service_device (expires_at_ms)",
                """
                CREATE TABLE IF NOT EXISTS service_link (
                    programmer \(text) NOT NULL, code \(text) NOT NULL,
                    person \(text) NOT NULL UNIQUE REFERENCES service_person (id) ON DELETE CASCADE, expires_at_ms BIGINT NOT NULL,
                    PRIMARY KEY (programmer, code)
                )
                """,
                "CREATE INDEX IF NOT EXISTS service_link_expiry ON service_link (expires_at_ms)",
            ]),
        Migration(
            "2-test-sign-ins",
            statements: [
                """
                CREATE TABLE IF NOT EXISTS test_sign_in (
                    handle BYTEA PRIMARY KEY, id \(text) NOT NULL UNIQUE, requestor \(text) NOT NULL, mvpd \(text) NOT NULL,
                    programmer \(text) NOT NULL, configuration BYTEA NOT NULL, way BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL,
                    request_id \(text) NOT NULL, browser_secret BYTEA NOT NULL, issuer_sent \(text) NOT NULL, started_at_ms BIGINT NOT NULL
                )
                """,
                "CREATE INDEX IF NOT EXISTS test_sign_in_expiry ON test_sign_in (expires_at_ms)",
            ], isAdditive: true),
        Migration(
            "3-bridge",
            statements: [
                """
                CREATE TABLE IF NOT EXISTS bridge_slot (
                    name \(text) PRIMARY KEY, upstream \(text) NOT NULL, client_id \(text) NOT NULL, secret BYTEA NOT NULL, scopes \(text) NOT NULL,
                    bearer BYTEA NOT NULL, bearer_end_ms BIGINT NOT NULL, bearer_life_s BIGINT NOT NULL, lease_until_ms BIGINT NOT NULL,
                    expires_at_ms BIGINT NOT NULL
                )
                """,
                "CREATE INDEX IF NOT EXISTS bridge_slot_expiry ON bridge_slot (expires_at_ms)",
                """
                CREATE TABLE IF NOT EXISTS bridge_pending (
                    handle BYTEA PRIMARY KEY, record_id \(text) NOT NULL, code \(text) NOT NULL, device_id \(text) NOT NULL, requestor \(text) NOT NULL,
                    app_id \(text) NOT NULL, device_user \(text) NOT NULL, client_id \(text) NOT NULL, device BYTEA NOT NULL, user_agent \(text) NOT NULL,
                    mvpd \(text) NOT NULL, upstream \(text) NOT NULL, service_provider \(text) NOT NULL, their_mvpd \(text) NOT NULL,
                    slot \(text) NOT NULL, upstream_code BYTEA NOT NULL, redirect_url \(text) NOT NULL, is_own BIGINT NOT NULL,
                    started_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL, state BIGINT NOT NULL
                )
                """,
                "CREATE INDEX IF NOT EXISTS bridge_pending_expiry ON bridge_pending (expires_at_ms)",
                "CREATE INDEX IF NOT EXISTS bridge_pending_record ON bridge_pending (record_id)",
                "CREATE INDEX IF NOT EXISTS bridge_pending_device ON bridge_pending (device_id, requestor)",
                """
                CREATE TABLE IF NOT EXISTS bridge_session (
                    session_id \(text) PRIMARY KEY, device_id \(text) NOT NULL, requestor \(text) NOT NULL, mvpd \(text) NOT NULL,
                    upstream \(text) NOT NULL, service_provider \(text) NOT NULL, their_mvpd \(text) NOT NULL, slot \(text) NOT NULL,
                    kind \(text) NOT NULL, starts_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL, confirmed_at_ms BIGINT NOT NULL,
                    is_suspect BIGINT NOT NULL, encrypted_names \(text) NOT NULL, attributes BYTEA NOT NULL, device BYTEA NOT NULL,
                    user_agent \(text) NOT NULL, logout_ms BIGINT NOT NULL DEFAULT 0, next_try_ms BIGINT NOT NULL DEFAULT 0,
                    tries BIGINT NOT NULL DEFAULT 0
                )
                """,
                "CREATE INDEX IF NOT EXISTS bridge_session_expiry ON bridge_session (expires_at_ms)",
                "CREATE INDEX IF NOT EXISTS bridge_session_device ON bridge_session (device_id, requestor)",
                "CREATE INDEX IF NOT EXISTS bridge_session_slot ON bridge_session (slot)",
                "CREATE INDEX IF NOT EXISTS bridge_session_logout ON bridge_session (next_try_ms) WHERE logout_ms > 0",
                "CREATE TABLE IF NOT EXISTS bridge_list (place \(text) PRIMARY KEY, content BYTEA NOT NULL, listed_at_ms BIGINT NOT NULL)",
                "CREATE INDEX IF NOT EXISTS bridge_list_age ON bridge_list (listed_at_ms)",
            ], isAdditive: true),
        Migration(
            "4-bridge-people",
            statements: [
                "CREATE TABLE IF NOT EXISTS bridge_person (person \(text) PRIMARY KEY, verifiers_id \(text) NOT NULL, expires_at_ms BIGINT NOT NULL)",
                "CREATE INDEX IF NOT EXISTS bridge_person_expiry ON bridge_person (expires_at_ms)",
            ], isAdditive: true),
        Migration(
            "5-people",
            statements: [
                "ALTER TABLE session ADD COLUMN IF NOT EXISTS household \(text)",
                "CREATE INDEX IF NOT EXISTS session_household ON session (household)",
                "CREATE INDEX IF NOT EXISTS session_upstream_user ON session (upstream_user_id) WHERE upstream_user_id <> ''",
                "CREATE INDEX IF NOT EXISTS registration_code_device ON registration_code (device_id)",
                "CREATE INDEX IF NOT EXISTS pending_logout_name ON pending_logout (name_id)",
                "CREATE INDEX IF NOT EXISTS trial_device_device ON trial_device (device_id)",
                "CREATE INDEX IF NOT EXISTS service_device_device ON service_device (device_id)",
                """
                CREATE TABLE IF NOT EXISTS erased (
                    subject \(text) PRIMARY KEY, erased_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL
                )
                """,
                "CREATE INDEX IF NOT EXISTS erased_expiry ON erased (expires_at_ms)",
            ], isAdditive: true),
        Migration(
            "6-scheduled-sign-ins",
            statements: [
                "ALTER TABLE test_sign_in ADD COLUMN IF NOT EXISTS is_scheduled BIGINT NOT NULL DEFAULT 0",
                "CREATE TABLE IF NOT EXISTS scheduled_sign_in (mvpd \(text) PRIMARY KEY, due_at_ms BIGINT NOT NULL, state BYTEA NOT NULL)",
                "CREATE INDEX IF NOT EXISTS scheduled_sign_in_due ON scheduled_sign_in (due_at_ms)",
            ], isAdditive: true),
        Migration(
            "7-callbacks",
            statements: [
                "ALTER TABLE pending_sign_in ADD COLUMN IF NOT EXISTS callback \(text) NOT NULL DEFAULT ''",
                "ALTER TABLE pending_sign_in ADD COLUMN IF NOT EXISTS callback_of \(text) NOT NULL DEFAULT ''",
                "ALTER TABLE test_sign_in ADD COLUMN IF NOT EXISTS callback \(text) NOT NULL DEFAULT ''",
                "ALTER TABLE test_sign_in ADD COLUMN IF NOT EXISTS callback_of \(text) NOT NULL DEFAULT ''",
                "ALTER TABLE bridge_pending ADD COLUMN IF NOT EXISTS browser_secret BYTEA NOT NULL DEFAULT ''",
            ], isAdditive: true),
        Migration(
            "8-announced-issuers",
            statements: ["CREATE TABLE IF NOT EXISTS announced_issuer (issuer \(text) PRIMARY KEY, read_at_ms BIGINT NOT NULL)"], isAdditive: true),
        Migration(
            "9-logout-hints",
            statements: [
                "ALTER TABLE upstream_token ADD COLUMN IF NOT EXISTS identity_token BYTEA",
                "ALTER TABLE pending_logout ADD COLUMN IF NOT EXISTS hint BYTEA",
            ], isAdditive: true),
        Migration(
            "10-lost-clients",
            statements: [
                """
                CREATE TABLE IF NOT EXISTS bridge_lost_slot (
                    name \(text) PRIMARY KEY, device \(text) NOT NULL, upstream \(text) NOT NULL, client_id \(text) NOT NULL, secret BYTEA NOT NULL,
                    scopes \(text) NOT NULL, lost_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL
                )
                """,
                "CREATE INDEX IF NOT EXISTS bridge_lost_slot_expiry ON bridge_lost_slot (expires_at_ms)",
                "CREATE INDEX IF NOT EXISTS bridge_lost_slot_device ON bridge_lost_slot (device)",
                "ALTER TABLE registration_code ADD COLUMN IF NOT EXISTS platform_tokens BYTEA NOT NULL DEFAULT ''",
            ], isAdditive: true),
    ]

    /// The sweeps of tables that only PostgreSQL has.
    static func sweeps(reportHours: Int) -> [Sweep] {
        [Sweep(table: "sign_in_report", key: ["trace", "ended_at_ms"], expiryColumn: "ended_at_ms", grace: .seconds(reportHours * 3600))]
    }
}
