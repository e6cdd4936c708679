internal import BridgeClient
package import Storage

extension SqlAuthenticationStore {
    /// Released steps never change; a change is a new step.
    package static let migrations = [
        Migration(
            "1-clients",
            sql: """
                CREATE TABLE client (
                    id TEXT PRIMARY KEY NOT NULL, secret_digest BLOB NOT NULL, software_id TEXT NOT NULL, redirect_uri TEXT NOT NULL,
                    issued_at_ms INTEGER NOT NULL
                ) WITHOUT ROWID
                """),
        Migration(
            "2-registration-codes",
            sql: """
                CREATE TABLE registration_code (
                    code TEXT NOT NULL UNIQUE, id TEXT NOT NULL UNIQUE, requestor TEXT NOT NULL, mvpd TEXT NOT NULL,
                    generated_at_ms INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL, device_id TEXT NOT NULL, device BLOB NOT NULL,
                    user_agent TEXT NOT NULL, device_type TEXT NOT NULL, app_id TEXT NOT NULL, device_user TEXT NOT NULL,
                    registration_url TEXT NOT NULL, client_id TEXT NOT NULL, is_used INTEGER NOT NULL
                );
                CREATE INDEX registration_code_expiry ON registration_code (expires_at_ms);
                """),
        Migration(
            "3-pending-sign-ins",
            sql: """
                CREATE TABLE pending_sign_in (
                    request_id TEXT NOT NULL UNIQUE, relay_state BLOB NOT NULL UNIQUE, record_id TEXT NOT NULL UNIQUE,
                    browser_secret BLOB NOT NULL, code TEXT NOT NULL, requestor TEXT NOT NULL, mvpd TEXT NOT NULL,
                    issuer_sent TEXT NOT NULL, redirect_url TEXT NOT NULL, started_at_ms INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL
                );
                CREATE INDEX pending_sign_in_expiry ON pending_sign_in (expires_at_ms);
                CREATE TABLE used_assertion (
                    issuer TEXT NOT NULL, assertion_id TEXT NOT NULL, expires_at_ms INTEGER NOT NULL, UNIQUE (issuer, assertion_id)
                );
                CREATE INDEX used_assertion_expiry ON used_assertion (expires_at_ms);
                """),
        Migration(
            "4-sessions",
            sql: """
                CREATE TABLE session (
                    device_id TEXT NOT NULL, requestor TEXT NOT NULL, id TEXT NOT NULL UNIQUE, mvpd TEXT NOT NULL, record_id TEXT NOT NULL,
                    app_id TEXT NOT NULL, device_user TEXT NOT NULL, client_id TEXT NOT NULL, user_id TEXT NOT NULL,
                    upstream_user_id TEXT NOT NULL, name_id TEXT NOT NULL, name_format TEXT NOT NULL, name_qualifier TEXT NOT NULL,
                    sp_name_qualifier TEXT NOT NULL, session_index TEXT NOT NULL, is_home_based INTEGER NOT NULL, attributes BLOB NOT NULL,
                    created_at_ms INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL, UNIQUE (device_id, requestor)
                );
                CREATE INDEX session_expiry ON session (expires_at_ms);
                """),
        // A session may come about without a registration code; SQLite drops a NOT NULL only with the table.
        Migration(
            "5-session-origins",
            sql: """
                CREATE TABLE new_session (
                    device_id TEXT NOT NULL, requestor TEXT NOT NULL, id TEXT NOT NULL UNIQUE, mvpd TEXT NOT NULL, record_id TEXT,
                    app_id TEXT NOT NULL, device_user TEXT NOT NULL, client_id TEXT NOT NULL, user_id TEXT NOT NULL,
                    upstream_user_id TEXT NOT NULL, name_id TEXT NOT NULL, name_format TEXT NOT NULL, name_qualifier TEXT NOT NULL,
                    sp_name_qualifier TEXT NOT NULL, session_index TEXT NOT NULL, is_home_based INTEGER NOT NULL, attributes BLOB NOT NULL,
                    created_at_ms INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL, kind INTEGER NOT NULL, rule TEXT, identity TEXT,
                    trial TEXT, authenticated_at_ms INTEGER NOT NULL, updated_at_ms INTEGER NOT NULL, device BLOB NOT NULL,
                    UNIQUE (device_id, requestor)
                );
                INSERT INTO new_session SELECT device_id, requestor, id, mvpd, record_id, app_id, device_user, client_id, user_id,
                    upstream_user_id, name_id, name_format, name_qualifier, sp_name_qualifier, session_index, is_home_based, attributes,
                    created_at_ms, expires_at_ms, 0, NULL, NULL, NULL, created_at_ms, created_at_ms,
                    coalesce((SELECT device FROM registration_code WHERE registration_code.id = session.record_id), x'')
                    FROM session;
                DROP TABLE session;
                ALTER TABLE new_session RENAME TO session;
                CREATE INDEX session_expiry ON session (expires_at_ms);
                CREATE INDEX session_identity ON session (identity) WHERE identity IS NOT NULL;
                CREATE INDEX session_trial ON session (trial) WHERE trial IS NOT NULL;
                """),
        Migration(
            "6-trials",
            sql: """
                CREATE TABLE trial (
                    id TEXT NOT NULL UNIQUE, requestor TEXT NOT NULL, mvpd TEXT NOT NULL, started_at_ms INTEGER NOT NULL,
                    expires_at_ms INTEGER NOT NULL
                );
                CREATE INDEX trial_owner ON trial (requestor, mvpd);
                CREATE TABLE trial_device (
                    requestor TEXT NOT NULL, mvpd TEXT NOT NULL, device_id TEXT NOT NULL,
                    trial TEXT NOT NULL REFERENCES trial (id) ON DELETE CASCADE, PRIMARY KEY (requestor, mvpd, device_id)
                ) WITHOUT ROWID;
                CREATE INDEX trial_device_trial ON trial_device (trial);
                CREATE TABLE trial_user (
                    requestor TEXT NOT NULL, mvpd TEXT NOT NULL, user TEXT NOT NULL,
                    trial TEXT NOT NULL REFERENCES trial (id) ON DELETE CASCADE, PRIMARY KEY (requestor, mvpd, user)
                ) WITHOUT ROWID;
                CREATE INDEX trial_user_trial ON trial_user (trial);
                CREATE TABLE trial_resource (
                    trial TEXT NOT NULL REFERENCES trial (id) ON DELETE CASCADE, resource TEXT NOT NULL, used_at_ms INTEGER NOT NULL,
                    UNIQUE (trial, resource)
                );
                DROP INDEX session_trial;
                """),
        Migration(
            "7-profile-requests",
            sql: """
                CREATE TABLE profile_request (
                    request_id TEXT PRIMARY KEY NOT NULL, client_id TEXT NOT NULL, requestor TEXT NOT NULL, mvpd TEXT NOT NULL,
                    platform INTEGER NOT NULL, issuer_sent TEXT NOT NULL, created_at_ms INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL
                );
                CREATE INDEX profile_request_client ON profile_request (client_id, requestor, mvpd, platform, created_at_ms);
                CREATE INDEX profile_request_expiry ON profile_request (expires_at_ms);
                """),
        Migration(
            "8-platform-identities",
            sql: """
                ALTER TABLE registration_code ADD COLUMN identity TEXT;
                CREATE INDEX session_identity_expiry ON session (expires_at_ms) WHERE identity IS NOT NULL;
                CREATE TABLE logout (
                    device_id TEXT NOT NULL, requestor TEXT NOT NULL, logged_out_at_ms INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL,
                    PRIMARY KEY (device_id, requestor)
                );
                CREATE INDEX logout_expiry ON logout (expires_at_ms);
                """),
        Migration(
            "9-single-logout",
            sql: """
                CREATE TABLE pending_logout (
                    handle BLOB PRIMARY KEY NOT NULL, request_id TEXT, requestor TEXT NOT NULL, mvpd TEXT NOT NULL, name_id TEXT NOT NULL,
                    name_format TEXT NOT NULL, name_qualifier TEXT NOT NULL, sp_name_qualifier TEXT NOT NULL, session_index TEXT NOT NULL,
                    redirect_url TEXT NOT NULL, expires_at_ms INTEGER NOT NULL
                );
                CREATE INDEX pending_logout_expiry ON pending_logout (expires_at_ms);
                CREATE INDEX session_name ON session (name_id);
                """),
        Migration(
            "10-upstream-tokens",
            sql: """
                ALTER TABLE pending_sign_in ADD COLUMN way INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE session ADD COLUMN upstream TEXT;
                CREATE TABLE upstream_token (
                    session_id TEXT PRIMARY KEY NOT NULL REFERENCES session (id) ON DELETE CASCADE, requestor TEXT NOT NULL, mvpd TEXT NOT NULL,
                    refresh_token BLOB, access_token BLOB NOT NULL, access_expires_at_ms INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL
                );
                """),
        // Logins alone: an automatic session costs no write here. The id is a digest over MVPD and person.
        Migration("11-logins", sql: "CREATE INDEX session_login ON session (user_id, requestor) WHERE kind <= 1"),
        Migration(
            "12-provided-names",
            sql: """
                ALTER TABLE session ADD COLUMN sp_provided_id TEXT NOT NULL DEFAULT '';
                ALTER TABLE pending_logout ADD COLUMN sp_provided_id TEXT NOT NULL DEFAULT '';
                """),
        Migration(
            "13-uses-of-codes",
            sql: """
                ALTER TABLE registration_code ADD COLUMN used_at_ms INTEGER;
                UPDATE registration_code SET used_at_ms = generated_at_ms WHERE is_used = 1;
                """),
        Migration("14-one-refresh-at-a-time", sql: "ALTER TABLE upstream_token ADD COLUMN refreshing_until_ms INTEGER"),
        // Nobody knows what a client from before did: it counts as one that made something, and was used now.
        Migration(
            "15-use-of-clients",
            sql: """
                ALTER TABLE client ADD COLUMN last_used_ms INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE client ADD COLUMN has_acted INTEGER NOT NULL DEFAULT 1;
                UPDATE client SET last_used_ms = CAST(strftime('%s', 'now') AS INTEGER) * 1000;
                """, isAdditive: true),
        Migration(
            "16-secrets",
            sql: """
                CREATE TABLE sealed_secret (
                    reference TEXT PRIMARY KEY NOT NULL, owner TEXT NOT NULL, sealed BLOB NOT NULL, written_at_ms INTEGER NOT NULL
                ) WITHOUT ROWID;
                """, isAdditive: true),
        Migration(
            "17-nonces",
            sql: """
                CREATE TABLE signed_nonce (digest BLOB PRIMARY KEY NOT NULL, expires_at_ms INTEGER NOT NULL);
                CREATE INDEX signed_nonce_expiry ON signed_nonce (expires_at_ms);
                """, isAdditive: true),
        // A code may have several: no column of the table says otherwise any more.
        Migration(
            "18-several-sign-ins",
            sql: """
                CREATE TABLE new_sign_in (
                    request_id TEXT NOT NULL UNIQUE, relay_state BLOB NOT NULL UNIQUE, record_id TEXT NOT NULL,
                    browser_secret BLOB NOT NULL, code TEXT NOT NULL, requestor TEXT NOT NULL, mvpd TEXT NOT NULL,
                    issuer_sent TEXT NOT NULL, redirect_url TEXT NOT NULL, started_at_ms INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL,
                    way INTEGER NOT NULL DEFAULT 0
                );
                INSERT INTO new_sign_in (request_id, relay_state, record_id, browser_secret, code, requestor, mvpd, issuer_sent, redirect_url,
                    started_at_ms, expires_at_ms, way)
                SELECT request_id, relay_state, record_id, browser_secret, code, requestor, mvpd, issuer_sent, redirect_url, started_at_ms,
                    expires_at_ms, way FROM pending_sign_in;
                DROP TABLE pending_sign_in;
                ALTER TABLE new_sign_in RENAME TO pending_sign_in;
                CREATE INDEX pending_sign_in_expiry ON pending_sign_in (expires_at_ms);
                CREATE INDEX pending_sign_in_record ON pending_sign_in (record_id);
                """, isAdditive: true),
        // The order of what came in one millisecond is the rows' own, not of how SQLite keeps them.
        Migration(
            "19-numbers",
            statements: [
                "ALTER TABLE pending_sign_in ADD COLUMN number INTEGER NOT NULL DEFAULT 0", "UPDATE pending_sign_in SET number = rowid",
                "ALTER TABLE trial_resource ADD COLUMN number INTEGER NOT NULL DEFAULT 0", "UPDATE trial_resource SET number = rowid",
            ], isAdditive: true),
        // A device has a session of its own for each client and MVPD, numbered as they came (rest-v2 §4). The release before shows one of them and
        // replaces all: it cannot go on beside this one.
        Migration(
            "20-profiles",
            sql: """
                CREATE TABLE new_session (
                    device_id TEXT NOT NULL, requestor TEXT NOT NULL, id TEXT NOT NULL UNIQUE, mvpd TEXT NOT NULL, record_id TEXT,
                    app_id TEXT NOT NULL, device_user TEXT NOT NULL, client_id TEXT NOT NULL, user_id TEXT NOT NULL,
                    upstream_user_id TEXT NOT NULL, name_id TEXT NOT NULL, name_format TEXT NOT NULL, name_qualifier TEXT NOT NULL,
                    sp_name_qualifier TEXT NOT NULL, sp_provided_id TEXT NOT NULL DEFAULT '', session_index TEXT NOT NULL,
                    is_home_based INTEGER NOT NULL, attributes BLOB NOT NULL, created_at_ms INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL,
                    kind INTEGER NOT NULL, rule TEXT, identity TEXT, trial TEXT, authenticated_at_ms INTEGER NOT NULL,
                    updated_at_ms INTEGER NOT NULL, device BLOB NOT NULL, upstream TEXT, number INTEGER NOT NULL DEFAULT 0,
                    UNIQUE (device_id, requestor, client_id, mvpd)
                );
                INSERT INTO new_session (device_id, requestor, id, mvpd, record_id, app_id, device_user, client_id, user_id, upstream_user_id, name_id,
                    name_format, name_qualifier, sp_name_qualifier, sp_provided_id, session_index, is_home_based, attributes, created_at_ms,
                    expires_at_ms, kind, rule, identity, trial, authenticated_at_ms, updated_at_ms, device, upstream)
                SELECT device_id, requestor, id, mvpd, record_id, app_id, device_user, client_id, user_id, upstream_user_id, name_id, name_format,
                    name_qualifier, sp_name_qualifier, sp_provided_id, session_index, is_home_based, attributes, created_at_ms, expires_at_ms, kind,
                    rule, identity, trial, authenticated_at_ms, updated_at_ms, device, upstream FROM session;
                DROP TABLE session;
                ALTER TABLE new_session RENAME TO session;
                CREATE INDEX session_expiry ON session (expires_at_ms);
                CREATE INDEX session_identity ON session (identity) WHERE identity IS NOT NULL;
                CREATE INDEX session_identity_expiry ON session (expires_at_ms) WHERE identity IS NOT NULL;
                CREATE INDEX session_name ON session (name_id);
                CREATE INDEX session_login ON session (user_id, requestor) WHERE kind <= 1;
                """),
        // The data that a session of REST v2 gathers before a person signs in. It also has the time until which a used code tells its maker of the
        // profile (clients §4.3).
        Migration(
            "21-sign-in-plans",
            statements: [
                "ALTER TABLE registration_code ADD COLUMN api INTEGER NOT NULL DEFAULT 0",
                "ALTER TABLE registration_code ADD COLUMN domain_name TEXT NOT NULL DEFAULT ''",
                "ALTER TABLE registration_code ADD COLUMN redirect_url TEXT NOT NULL DEFAULT ''",
                "ALTER TABLE registration_code ADD COLUMN kept_until_ms INTEGER NOT NULL DEFAULT 0",
                "UPDATE registration_code SET kept_until_ms = expires_at_ms",
                "CREATE INDEX registration_code_kept ON registration_code (kept_until_ms)",
                "CREATE INDEX registration_code_plan ON registration_code (device_id, client_id, requestor) WHERE api = 1",
                "DROP INDEX registration_code_expiry",
            ]),
        // The person that a service token names, at a session and a code. For our own tokens: the person, their devices, and the code that adds a
        // device (rest-v2 §2.14).
        Migration(
            "22-service-tokens",
            sql: """
                ALTER TABLE session ADD COLUMN service_identity TEXT;
                CREATE INDEX session_service_identity ON session (service_identity) WHERE service_identity IS NOT NULL;
                CREATE INDEX session_service_identity_expiry ON session (expires_at_ms) WHERE service_identity IS NOT NULL;
                ALTER TABLE registration_code ADD COLUMN service_identity TEXT;
                CREATE TABLE service_person (
                    id TEXT PRIMARY KEY NOT NULL, programmer TEXT NOT NULL, name_digest BLOB NOT NULL, expires_at_ms INTEGER NOT NULL,
                    UNIQUE (programmer, name_digest)
                );
                CREATE INDEX service_person_expiry ON service_person (expires_at_ms);
                CREATE TABLE service_device (
                    tie TEXT PRIMARY KEY NOT NULL, person TEXT NOT NULL REFERENCES service_person (id) ON DELETE CASCADE, device_id TEXT NOT NULL,
                    device BLOB NOT NULL, seen_at_ms INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL, UNIQUE (person, device_id)
                );
                CREATE INDEX service_device_expiry ON service_device (expires_at_ms);
                CREATE TABLE service_link (
                    programmer TEXT NOT NULL, code TEXT NOT NULL, person TEXT NOT NULL UNIQUE REFERENCES service_person (id) ON DELETE CASCADE,
                    expires_at_ms INTEGER NOT NULL, PRIMARY KEY (programmer, code)
                );
                CREATE INDEX service_link_expiry ON service_link (expires_at_ms);
                """, isAdditive: true),
        // Sign-ins that administrators try out by a draft.
        Migration(
            "23-test-sign-ins",
            sql: """
                CREATE TABLE test_sign_in (
                    handle BLOB PRIMARY KEY NOT NULL, id TEXT NOT NULL UNIQUE, requestor TEXT NOT NULL, mvpd TEXT NOT NULL, programmer TEXT NOT NULL,
                    configuration BLOB NOT NULL, way INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL, request_id TEXT NOT NULL,
                    browser_secret BLOB NOT NULL, issuer_sent TEXT NOT NULL, started_at_ms INTEGER NOT NULL
                );
                CREATE INDEX test_sign_in_expiry ON test_sign_in (expires_at_ms);
                """, isAdditive: true),
        // The bridge's tables: our clients at upstreams, logins under way there, what belongs to sessions of theirs, and their lists of MVPDs.
        Migration(
            "24-bridge",
            sql: """
                CREATE TABLE bridge_slot (
                    name TEXT PRIMARY KEY NOT NULL, upstream TEXT NOT NULL, client_id TEXT NOT NULL, secret BLOB NOT NULL, scopes TEXT NOT NULL,
                    bearer BLOB NOT NULL, bearer_end_ms INTEGER NOT NULL, bearer_life_s INTEGER NOT NULL, lease_until_ms INTEGER NOT NULL,
                    expires_at_ms INTEGER NOT NULL
                );
                CREATE INDEX bridge_slot_expiry ON bridge_slot (expires_at_ms);
                CREATE TABLE bridge_pending (
                    handle BLOB PRIMARY KEY NOT NULL, record_id TEXT NOT NULL, code TEXT NOT NULL, device_id TEXT NOT NULL, requestor TEXT NOT NULL,
                    app_id TEXT NOT NULL, device_user TEXT NOT NULL, client_id TEXT NOT NULL, device BLOB NOT NULL, user_agent TEXT NOT NULL,
                    mvpd TEXT NOT NULL, upstream TEXT NOT NULL, service_provider TEXT NOT NULL, their_mvpd TEXT NOT NULL, slot TEXT NOT NULL,
                    upstream_code BLOB NOT NULL, redirect_url TEXT NOT NULL, is_own INTEGER NOT NULL, started_at_ms INTEGER NOT NULL,
                    expires_at_ms INTEGER NOT NULL, state INTEGER NOT NULL
                );
                CREATE INDEX bridge_pending_expiry ON bridge_pending (expires_at_ms);
                CREATE INDEX bridge_pending_record ON bridge_pending (record_id);
                CREATE INDEX bridge_pending_device ON bridge_pending (device_id, requestor);
                CREATE TABLE bridge_session (
                    session_id TEXT PRIMARY KEY NOT NULL, device_id TEXT NOT NULL, requestor TEXT NOT NULL, mvpd TEXT NOT NULL, upstream TEXT NOT NULL,
                    service_provider TEXT NOT NULL, their_mvpd TEXT NOT NULL, slot TEXT NOT NULL, kind TEXT NOT NULL, starts_at_ms INTEGER NOT NULL,
                    expires_at_ms INTEGER NOT NULL, confirmed_at_ms INTEGER NOT NULL, is_suspect INTEGER NOT NULL, encrypted_names TEXT NOT NULL,
                    attributes BLOB NOT NULL, device BLOB NOT NULL, user_agent TEXT NOT NULL, logout_ms INTEGER NOT NULL DEFAULT 0,
                    next_try_ms INTEGER NOT NULL DEFAULT 0, tries INTEGER NOT NULL DEFAULT 0
                );
                CREATE INDEX bridge_session_expiry ON bridge_session (expires_at_ms);
                CREATE INDEX bridge_session_device ON bridge_session (device_id, requestor);
                CREATE INDEX bridge_session_slot ON bridge_session (slot);
                CREATE INDEX bridge_session_logout ON bridge_session (next_try_ms) WHERE logout_ms > 0;
                CREATE TABLE bridge_list (place TEXT PRIMARY KEY NOT NULL, content BLOB NOT NULL, listed_at_ms INTEGER NOT NULL);
                CREATE INDEX bridge_list_age ON bridge_list (listed_at_ms);
                """, isAdditive: true),
        // By which id verifiers of an upstream's media tokens know a person (bridge §8.2).
        Migration(
            "25-bridge-people",
            sql: """
                CREATE TABLE bridge_person (person TEXT PRIMARY KEY NOT NULL, verifiers_id TEXT NOT NULL, expires_at_ms INTEGER NOT NULL);
                CREATE INDEX bridge_person_expiry ON bridge_person (expires_at_ms);
                """, isAdditive: true),
        // By what a person's rows are found (Shared/Documents/Decisions/0081), and who was erased lately. A household is NULL where the release
        // before wrote the row.
        Migration(
            "26-people",
            sql: """
                ALTER TABLE session ADD COLUMN household TEXT;
                CREATE INDEX session_household ON session (household);
                CREATE INDEX session_upstream_user ON session (upstream_user_id) WHERE upstream_user_id <> '';
                CREATE INDEX registration_code_device ON registration_code (device_id);
                CREATE INDEX pending_logout_name ON pending_logout (name_id);
                CREATE INDEX trial_device_device ON trial_device (device_id);
                CREATE INDEX service_device_device ON service_device (device_id);
                CREATE TABLE erased (subject TEXT PRIMARY KEY NOT NULL, erased_at_ms INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL);
                CREATE INDEX erased_expiry ON erased (expires_at_ms);
                """, isAdditive: true),
        // Sign-ins of test users on a schedule (Shared/Documents/Decisions/0085).
        Migration(
            "27-scheduled-sign-ins",
            sql: """
                ALTER TABLE test_sign_in ADD COLUMN is_scheduled INTEGER NOT NULL DEFAULT 0;
                CREATE TABLE scheduled_sign_in (mvpd TEXT PRIMARY KEY NOT NULL, due_at_ms INTEGER NOT NULL, state BLOB NOT NULL);
                CREATE INDEX scheduled_sign_in_due ON scheduled_sign_in (due_at_ms);
                """, isAdditive: true),
        // Where an OAuth provider's answer has to come: the shared address, and whose own one below it (mvpd §3). And the browser that began a login
        // at an upstream, of requestors that have sign-ins confirmed; empty: any browser may return (bridge §7.3).
        Migration(
            "28-callbacks",
            sql: """
                ALTER TABLE pending_sign_in ADD COLUMN callback TEXT NOT NULL DEFAULT '';
                ALTER TABLE pending_sign_in ADD COLUMN callback_of TEXT NOT NULL DEFAULT '';
                ALTER TABLE test_sign_in ADD COLUMN callback TEXT NOT NULL DEFAULT '';
                ALTER TABLE test_sign_in ADD COLUMN callback_of TEXT NOT NULL DEFAULT '';
                ALTER TABLE bridge_pending ADD COLUMN browser_secret BLOB NOT NULL DEFAULT x'';
                """, isAdditive: true),
        // OAuth providers that announced that their answers name them (RFC 9207 §3), and when their document said so last.
        Migration(
            "29-announced-issuers",
            sql: "CREATE TABLE announced_issuer (issuer TEXT PRIMARY KEY NOT NULL, read_at_ms INTEGER NOT NULL)", isAdditive: true),
        // The id_token of a sign-in, sealed: who logs out at the provider shows it there.
        Migration(
            "30-logout-hints",
            sql: """
                ALTER TABLE upstream_token ADD COLUMN identity_token BLOB;
                ALTER TABLE pending_logout ADD COLUMN hint BLOB;
                """, isAdditive: true),
        // Credentials of clients that an upstream does not know any more, and a platform's token that came with a code for an upstream, sealed
        // (bridge §4.2, §5.1).
        Migration(
            "31-lost-clients",
            sql: """
                CREATE TABLE bridge_lost_slot (
                    name TEXT PRIMARY KEY NOT NULL, device TEXT NOT NULL, upstream TEXT NOT NULL, client_id TEXT NOT NULL, secret BLOB NOT NULL,
                    scopes TEXT NOT NULL, lost_at_ms INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL
                );
                CREATE INDEX bridge_lost_slot_expiry ON bridge_lost_slot (expires_at_ms);
                CREATE INDEX bridge_lost_slot_device ON bridge_lost_slot (device);
                ALTER TABLE registration_code ADD COLUMN platform_tokens BLOB NOT NULL DEFAULT x'';
                """, isAdditive: true),
    ]

    /// The rows that are removed once they are over. An expired session is remembered for a day, so that "expired" differs from "none" (rest-v1 §5).
    package static let sweeps = [
        Sweep(table: "registration_code", key: ["id"], expiryColumn: "kept_until_ms", grace: RegistrationRecord.remembrance),
        Sweep(table: "pending_sign_in", key: ["request_id"], expiryColumn: "expires_at_ms"),
        Sweep(table: "test_sign_in", key: ["id"], expiryColumn: "expires_at_ms"),
        // Rows of MVPDs that nobody tests any more.
        Sweep(table: "scheduled_sign_in", key: ["mvpd"], expiryColumn: "due_at_ms", grace: .seconds(604_800)),
        Sweep(
            table: "bridge_pending", key: ["handle"], expiryColumn: "expires_at_ms", grace: .seconds(3600), farthest: Sweep.Limit(BridgedEnd.farthest)
        ),
        Sweep(
            table: "bridge_session", key: ["session_id"], expiryColumn: "expires_at_ms", grace: SessionState.remembrance,
            farthest: Sweep.Limit(BridgedEnd.farthest)),
        Sweep(table: "bridge_slot", key: ["name"], expiryColumn: "expires_at_ms"),
        Sweep(table: "bridge_lost_slot", key: ["name"], expiryColumn: "expires_at_ms"),
        Sweep(table: "bridge_person", key: ["person"], expiryColumn: "expires_at_ms"),
        Sweep(table: "bridge_list", key: ["place"], expiryColumn: "listed_at_ms", grace: .seconds(604_800)),
        // Rows of providers at whom nobody has signed in since.
        Sweep(table: "announced_issuer", key: ["issuer"], expiryColumn: "read_at_ms", grace: .seconds(90 * 86_400)),
        Sweep(table: "used_assertion", key: ["issuer", "assertion_id"], expiryColumn: "expires_at_ms"),
        Sweep(table: "profile_request", key: ["request_id"], expiryColumn: "expires_at_ms"),
        Sweep(table: "pending_logout", key: ["handle"], expiryColumn: "expires_at_ms"),
        Sweep(table: "signed_nonce", key: ["digest"], expiryColumn: "expires_at_ms"),
        Sweep(table: "service_link", key: ["programmer", "code"], expiryColumn: "expires_at_ms"),
        Sweep(table: "service_device", key: ["tie"], expiryColumn: "expires_at_ms"),
        Sweep(table: "service_person", key: ["id"], expiryColumn: "expires_at_ms"),
        Sweep(table: "erased", key: ["subject"], expiryColumn: "expires_at_ms"),
        Sweep(table: "logout", key: ["device_id", "requestor"], expiryColumn: "expires_at_ms"),
        // Those that an upstream's login made: their ends are its word.
        Sweep(
            table: "session", key: ["id"], expiryColumn: "expires_at_ms", grace: SessionState.remembrance,
            farthest: Sweep.Limit(BridgedEnd.farthest, of: "id IN (SELECT session_id FROM bridge_session)")),
    ]
}
