-- Step 1-tables
CREATE TABLE IF NOT EXISTS epoch (name TEXT COLLATE "C" PRIMARY KEY, value BIGINT NOT NULL);
INSERT INTO epoch (name, value) VALUES ('client', 0) ON CONFLICT (name) DO NOTHING;
CREATE TABLE IF NOT EXISTS sign_in_report (
    trace TEXT COLLATE "C" NOT NULL, ended_at_ms BIGINT NOT NULL, mvpd TEXT COLLATE "C" NOT NULL, content BYTEA NOT NULL, PRIMARY KEY (trace, ended_at_ms)
);
CREATE INDEX IF NOT EXISTS sign_in_report_end ON sign_in_report (ended_at_ms);
CREATE INDEX IF NOT EXISTS sign_in_report_mvpd ON sign_in_report (mvpd, ended_at_ms);
CREATE TABLE IF NOT EXISTS client (
    id TEXT COLLATE "C" PRIMARY KEY, secret_digest BYTEA NOT NULL, software_id TEXT COLLATE "C" NOT NULL, redirect_uri TEXT COLLATE "C" NOT NULL,
    issued_at_ms BIGINT NOT NULL, last_used_ms BIGINT NOT NULL DEFAULT 0, has_acted BIGINT NOT NULL DEFAULT 1
);
CREATE TABLE IF NOT EXISTS registration_code (
    code TEXT COLLATE "C" NOT NULL UNIQUE, id TEXT COLLATE "C" NOT NULL UNIQUE, requestor TEXT COLLATE "C" NOT NULL, mvpd TEXT COLLATE "C" NOT NULL,
    generated_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL, device_id TEXT COLLATE "C" NOT NULL, device BYTEA NOT NULL,
    user_agent TEXT COLLATE "C" NOT NULL, device_type TEXT COLLATE "C" NOT NULL, app_id TEXT COLLATE "C" NOT NULL, device_user TEXT COLLATE "C" NOT NULL,
    registration_url TEXT COLLATE "C" NOT NULL, client_id TEXT COLLATE "C" NOT NULL, is_used BIGINT NOT NULL, identity TEXT COLLATE "C", used_at_ms BIGINT,
    api BIGINT NOT NULL DEFAULT 0, domain_name TEXT COLLATE "C" NOT NULL DEFAULT '', redirect_url TEXT COLLATE "C" NOT NULL DEFAULT '',
    kept_until_ms BIGINT NOT NULL DEFAULT 0, service_identity TEXT COLLATE "C"
);
CREATE INDEX IF NOT EXISTS registration_code_kept ON registration_code (kept_until_ms);
CREATE INDEX IF NOT EXISTS registration_code_plan ON registration_code (device_id, client_id, requestor) WHERE api = 1;
CREATE TABLE IF NOT EXISTS pending_sign_in (
    request_id TEXT COLLATE "C" NOT NULL UNIQUE, relay_state BYTEA NOT NULL UNIQUE, record_id TEXT COLLATE "C" NOT NULL, browser_secret BYTEA NOT NULL,
    code TEXT COLLATE "C" NOT NULL, requestor TEXT COLLATE "C" NOT NULL, mvpd TEXT COLLATE "C" NOT NULL, issuer_sent TEXT COLLATE "C" NOT NULL,
    redirect_url TEXT COLLATE "C" NOT NULL, started_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL, way BIGINT NOT NULL DEFAULT 0,
    number BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS pending_sign_in_expiry ON pending_sign_in (expires_at_ms);
CREATE INDEX IF NOT EXISTS pending_sign_in_record ON pending_sign_in (record_id);
CREATE TABLE IF NOT EXISTS used_assertion (
    issuer TEXT COLLATE "C" NOT NULL, assertion_id TEXT COLLATE "C" NOT NULL, expires_at_ms BIGINT NOT NULL, UNIQUE (issuer, assertion_id)
);
CREATE INDEX IF NOT EXISTS used_assertion_expiry ON used_assertion (expires_at_ms);
CREATE TABLE IF NOT EXISTS session (
    device_id TEXT COLLATE "C" NOT NULL, requestor TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL UNIQUE, mvpd TEXT COLLATE "C" NOT NULL, record_id TEXT COLLATE "C",
    app_id TEXT COLLATE "C" NOT NULL, device_user TEXT COLLATE "C" NOT NULL, client_id TEXT COLLATE "C" NOT NULL, user_id TEXT COLLATE "C" NOT NULL,
    upstream_user_id TEXT COLLATE "C" NOT NULL, name_id TEXT COLLATE "C" NOT NULL, name_format TEXT COLLATE "C" NOT NULL, name_qualifier TEXT COLLATE "C" NOT NULL,
    sp_name_qualifier TEXT COLLATE "C" NOT NULL, sp_provided_id TEXT COLLATE "C" NOT NULL DEFAULT '', session_index TEXT COLLATE "C" NOT NULL,
    is_home_based BIGINT NOT NULL, attributes BYTEA NOT NULL, created_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL,
    kind BIGINT NOT NULL, rule TEXT COLLATE "C", identity TEXT COLLATE "C", trial TEXT COLLATE "C", authenticated_at_ms BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL, device BYTEA NOT NULL, upstream TEXT COLLATE "C", number BIGINT NOT NULL DEFAULT 0,
    service_identity TEXT COLLATE "C", UNIQUE (device_id, requestor, client_id, mvpd)
);
CREATE INDEX IF NOT EXISTS session_expiry ON session (expires_at_ms);
CREATE INDEX IF NOT EXISTS session_identity ON session (identity) WHERE identity IS NOT NULL;
CREATE INDEX IF NOT EXISTS session_identity_expiry ON session (expires_at_ms) WHERE identity IS NOT NULL;
CREATE INDEX IF NOT EXISTS session_service_identity ON session (service_identity) WHERE service_identity IS NOT NULL;
CREATE INDEX IF NOT EXISTS session_service_identity_expiry ON session (expires_at_ms) WHERE service_identity IS NOT NULL;
CREATE INDEX IF NOT EXISTS session_name ON session (name_id);
CREATE INDEX IF NOT EXISTS session_login ON session (user_id, requestor) WHERE kind <= 1;
CREATE TABLE IF NOT EXISTS trial (
    id TEXT COLLATE "C" NOT NULL UNIQUE, requestor TEXT COLLATE "C" NOT NULL, mvpd TEXT COLLATE "C" NOT NULL, started_at_ms BIGINT NOT NULL,
    expires_at_ms BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS trial_owner ON trial (requestor, mvpd);
CREATE TABLE IF NOT EXISTS trial_device (
    requestor TEXT COLLATE "C" NOT NULL, mvpd TEXT COLLATE "C" NOT NULL, device_id TEXT COLLATE "C" NOT NULL,
    trial TEXT COLLATE "C" NOT NULL REFERENCES trial (id) ON DELETE CASCADE, PRIMARY KEY (requestor, mvpd, device_id)
);
CREATE INDEX IF NOT EXISTS trial_device_trial ON trial_device (trial);
CREATE TABLE IF NOT EXISTS trial_user (
    requestor TEXT COLLATE "C" NOT NULL, mvpd TEXT COLLATE "C" NOT NULL, "user" TEXT COLLATE "C" NOT NULL,
    trial TEXT COLLATE "C" NOT NULL REFERENCES trial (id) ON DELETE CASCADE, PRIMARY KEY (requestor, mvpd, "user")
);
CREATE INDEX IF NOT EXISTS trial_user_trial ON trial_user (trial);
CREATE TABLE IF NOT EXISTS trial_resource (
    trial TEXT COLLATE "C" NOT NULL REFERENCES trial (id) ON DELETE CASCADE, resource TEXT COLLATE "C" NOT NULL, used_at_ms BIGINT NOT NULL,
    number BIGINT NOT NULL DEFAULT 0, UNIQUE (trial, resource)
);
CREATE TABLE IF NOT EXISTS profile_request (
    request_id TEXT COLLATE "C" PRIMARY KEY, client_id TEXT COLLATE "C" NOT NULL, requestor TEXT COLLATE "C" NOT NULL, mvpd TEXT COLLATE "C" NOT NULL,
    platform BIGINT NOT NULL, issuer_sent TEXT COLLATE "C" NOT NULL, created_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS profile_request_client ON profile_request (client_id, requestor, mvpd, platform, created_at_ms);
CREATE INDEX IF NOT EXISTS profile_request_expiry ON profile_request (expires_at_ms);
CREATE TABLE IF NOT EXISTS logout (
    device_id TEXT COLLATE "C" NOT NULL, requestor TEXT COLLATE "C" NOT NULL, logged_out_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL,
    PRIMARY KEY (device_id, requestor)
);
CREATE INDEX IF NOT EXISTS logout_expiry ON logout (expires_at_ms);
CREATE TABLE IF NOT EXISTS pending_logout (
    handle BYTEA PRIMARY KEY, request_id TEXT COLLATE "C", requestor TEXT COLLATE "C" NOT NULL, mvpd TEXT COLLATE "C" NOT NULL, name_id TEXT COLLATE "C" NOT NULL,
    name_format TEXT COLLATE "C" NOT NULL, name_qualifier TEXT COLLATE "C" NOT NULL, sp_name_qualifier TEXT COLLATE "C" NOT NULL,
    sp_provided_id TEXT COLLATE "C" NOT NULL DEFAULT '', session_index TEXT COLLATE "C" NOT NULL, redirect_url TEXT COLLATE "C" NOT NULL,
    expires_at_ms BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS pending_logout_expiry ON pending_logout (expires_at_ms);
CREATE TABLE IF NOT EXISTS upstream_token (
    session_id TEXT COLLATE "C" PRIMARY KEY REFERENCES session (id) ON DELETE CASCADE, requestor TEXT COLLATE "C" NOT NULL, mvpd TEXT COLLATE "C" NOT NULL,
    refresh_token BYTEA, access_token BYTEA NOT NULL, access_expires_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL,
    refreshing_until_ms BIGINT
);
CREATE TABLE IF NOT EXISTS sealed_secret (
    reference TEXT COLLATE "C" PRIMARY KEY, owner TEXT COLLATE "C" NOT NULL, sealed BYTEA NOT NULL, written_at_ms BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS signed_nonce (digest BYTEA PRIMARY KEY, expires_at_ms BIGINT NOT NULL);
CREATE INDEX IF NOT EXISTS signed_nonce_expiry ON signed_nonce (expires_at_ms);
CREATE TABLE IF NOT EXISTS service_person (
    id TEXT COLLATE "C" PRIMARY KEY, programmer TEXT COLLATE "C" NOT NULL, name_digest BYTEA NOT NULL, expires_at_ms BIGINT NOT NULL,
    UNIQUE (programmer, name_digest)
);
CREATE INDEX IF NOT EXISTS service_person_expiry ON service_person (expires_at_ms);
CREATE TABLE IF NOT EXISTS service_device (
    tie TEXT COLLATE "C" PRIMARY KEY, person TEXT COLLATE "C" NOT NULL REFERENCES service_person (id) ON DELETE CASCADE, device_id TEXT COLLATE "C" NOT NULL,
    device BYTEA NOT NULL, seen_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL, UNIQUE (person, device_id)
);
CREATE INDEX IF NOT EXISTS service_device_expiry ON service_device (expires_at_ms);
CREATE TABLE IF NOT EXISTS service_link (
    programmer TEXT COLLATE "C" NOT NULL, code TEXT COLLATE "C" NOT NULL,
    person TEXT COLLATE "C" NOT NULL UNIQUE REFERENCES service_person (id) ON DELETE CASCADE, expires_at_ms BIGINT NOT NULL,
    PRIMARY KEY (programmer, code)
);
CREATE INDEX IF NOT EXISTS service_link_expiry ON service_link (expires_at_ms);
-- Step 2-test-sign-ins
CREATE TABLE IF NOT EXISTS test_sign_in (
    handle BYTEA PRIMARY KEY, id TEXT COLLATE "C" NOT NULL UNIQUE, requestor TEXT COLLATE "C" NOT NULL, mvpd TEXT COLLATE "C" NOT NULL,
    programmer TEXT COLLATE "C" NOT NULL, configuration BYTEA NOT NULL, way BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL, browser_secret BYTEA NOT NULL, issuer_sent TEXT COLLATE "C" NOT NULL, started_at_ms BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS test_sign_in_expiry ON test_sign_in (expires_at_ms);
-- Step 3-bridge
CREATE TABLE IF NOT EXISTS bridge_slot (
    name TEXT COLLATE "C" PRIMARY KEY, upstream TEXT COLLATE "C" NOT NULL, client_id TEXT COLLATE "C" NOT NULL, secret BYTEA NOT NULL, scopes TEXT COLLATE "C" NOT NULL,
    bearer BYTEA NOT NULL, bearer_end_ms BIGINT NOT NULL, bearer_life_s BIGINT NOT NULL, lease_until_ms BIGINT NOT NULL,
    expires_at_ms BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS bridge_slot_expiry ON bridge_slot (expires_at_ms);
CREATE TABLE IF NOT EXISTS bridge_pending (
    handle BYTEA PRIMARY KEY, record_id TEXT COLLATE "C" NOT NULL, code TEXT COLLATE "C" NOT NULL, device_id TEXT COLLATE "C" NOT NULL, requestor TEXT COLLATE "C" NOT NULL,
    app_id TEXT COLLATE "C" NOT NULL, device_user TEXT COLLATE "C" NOT NULL, client_id TEXT COLLATE "C" NOT NULL, device BYTEA NOT NULL, user_agent TEXT COLLATE "C" NOT NULL,
    mvpd TEXT COLLATE "C" NOT NULL, upstream TEXT COLLATE "C" NOT NULL, service_provider TEXT COLLATE "C" NOT NULL, their_mvpd TEXT COLLATE "C" NOT NULL,
    slot TEXT COLLATE "C" NOT NULL, upstream_code BYTEA NOT NULL, redirect_url TEXT COLLATE "C" NOT NULL, is_own BIGINT NOT NULL,
    started_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL, state BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS bridge_pending_expiry ON bridge_pending (expires_at_ms);
CREATE INDEX IF NOT EXISTS bridge_pending_record ON bridge_pending (record_id);
CREATE INDEX IF NOT EXISTS bridge_pending_device ON bridge_pending (device_id, requestor);
CREATE TABLE IF NOT EXISTS bridge_session (
    session_id TEXT COLLATE "C" PRIMARY KEY, device_id TEXT COLLATE "C" NOT NULL, requestor TEXT COLLATE "C" NOT NULL, mvpd TEXT COLLATE "C" NOT NULL,
    upstream TEXT COLLATE "C" NOT NULL, service_provider TEXT COLLATE "C" NOT NULL, their_mvpd TEXT COLLATE "C" NOT NULL, slot TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL, starts_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL, confirmed_at_ms BIGINT NOT NULL,
    is_suspect BIGINT NOT NULL, encrypted_names TEXT COLLATE "C" NOT NULL, attributes BYTEA NOT NULL, device BYTEA NOT NULL,
    user_agent TEXT COLLATE "C" NOT NULL, logout_ms BIGINT NOT NULL DEFAULT 0, next_try_ms BIGINT NOT NULL DEFAULT 0,
    tries BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS bridge_session_expiry ON bridge_session (expires_at_ms);
CREATE INDEX IF NOT EXISTS bridge_session_device ON bridge_session (device_id, requestor);
CREATE INDEX IF NOT EXISTS bridge_session_slot ON bridge_session (slot);
CREATE INDEX IF NOT EXISTS bridge_session_logout ON bridge_session (next_try_ms) WHERE logout_ms > 0;
CREATE TABLE IF NOT EXISTS bridge_list (place TEXT COLLATE "C" PRIMARY KEY, content BYTEA NOT NULL, listed_at_ms BIGINT NOT NULL);
CREATE INDEX IF NOT EXISTS bridge_list_age ON bridge_list (listed_at_ms);
-- Step 4-bridge-people
CREATE TABLE IF NOT EXISTS bridge_person (person TEXT COLLATE "C" PRIMARY KEY, verifiers_id TEXT COLLATE "C" NOT NULL, expires_at_ms BIGINT NOT NULL);
CREATE INDEX IF NOT EXISTS bridge_person_expiry ON bridge_person (expires_at_ms);
-- Step 5-people
ALTER TABLE session ADD COLUMN IF NOT EXISTS household TEXT COLLATE "C";
CREATE INDEX IF NOT EXISTS session_household ON session (household);
CREATE INDEX IF NOT EXISTS session_upstream_user ON session (upstream_user_id) WHERE upstream_user_id <> '';
CREATE INDEX IF NOT EXISTS registration_code_device ON registration_code (device_id);
CREATE INDEX IF NOT EXISTS pending_logout_name ON pending_logout (name_id);
CREATE INDEX IF NOT EXISTS trial_device_device ON trial_device (device_id);
CREATE INDEX IF NOT EXISTS service_device_device ON service_device (device_id);
CREATE TABLE IF NOT EXISTS erased (
    subject TEXT COLLATE "C" PRIMARY KEY, erased_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS erased_expiry ON erased (expires_at_ms);
-- Step 6-scheduled-sign-ins
ALTER TABLE test_sign_in ADD COLUMN IF NOT EXISTS is_scheduled BIGINT NOT NULL DEFAULT 0;
CREATE TABLE IF NOT EXISTS scheduled_sign_in (mvpd TEXT COLLATE "C" PRIMARY KEY, due_at_ms BIGINT NOT NULL, state BYTEA NOT NULL);
CREATE INDEX IF NOT EXISTS scheduled_sign_in_due ON scheduled_sign_in (due_at_ms);
-- Step 7-callbacks
ALTER TABLE pending_sign_in ADD COLUMN IF NOT EXISTS callback TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE pending_sign_in ADD COLUMN IF NOT EXISTS callback_of TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE test_sign_in ADD COLUMN IF NOT EXISTS callback TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE test_sign_in ADD COLUMN IF NOT EXISTS callback_of TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE bridge_pending ADD COLUMN IF NOT EXISTS browser_secret BYTEA NOT NULL DEFAULT '';
-- Step 8-announced-issuers
CREATE TABLE IF NOT EXISTS announced_issuer (issuer TEXT COLLATE "C" PRIMARY KEY, read_at_ms BIGINT NOT NULL);
-- Step 9-logout-hints
ALTER TABLE upstream_token ADD COLUMN IF NOT EXISTS identity_token BYTEA;
ALTER TABLE pending_logout ADD COLUMN IF NOT EXISTS hint BYTEA;
