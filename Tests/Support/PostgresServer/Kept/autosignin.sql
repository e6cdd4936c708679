-- Step 1-tables
CREATE TABLE IF NOT EXISTS store_metadata (name TEXT COLLATE "C" PRIMARY KEY, value TEXT COLLATE "C" NOT NULL);
INSERT INTO store_metadata (name, value) VALUES ('owner', 'autosignin'), ('layout', '2')
ON CONFLICT (name) DO NOTHING;
CREATE TABLE IF NOT EXISTS account (
    id TEXT COLLATE "C" PRIMARY KEY, programmer TEXT COLLATE "C" NOT NULL, created_at_ms BIGINT NOT NULL, is_locked BIGINT NOT NULL, closed_at_ms BIGINT,
    given_name TEXT COLLATE "C", family_name TEXT COLLATE "C", email TEXT COLLATE "C", is_email_verified BIGINT NOT NULL, is_email_private BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS account_email_folded ON account (programmer, lower(email)) WHERE email IS NOT NULL;
CREATE TABLE IF NOT EXISTS account_login (
    programmer TEXT COLLATE "C" NOT NULL, mvpd TEXT COLLATE "C" NOT NULL, user_id TEXT COLLATE "C" NOT NULL, account_id TEXT COLLATE "C" NOT NULL,
    attached_at_ms BIGINT NOT NULL, PRIMARY KEY (programmer, mvpd, user_id)
);
CREATE INDEX IF NOT EXISTS account_login_account ON account_login (account_id);
CREATE TABLE IF NOT EXISTS streaming_session (
    id TEXT COLLATE "C" NOT NULL UNIQUE, account_id TEXT COLLATE "C" NOT NULL, programmer TEXT COLLATE "C" NOT NULL, requestor TEXT COLLATE "C" NOT NULL,
    device_id TEXT COLLATE "C" NOT NULL, device_label TEXT COLLATE "C" NOT NULL, client_id TEXT COLLATE "C" NOT NULL, family_id TEXT COLLATE "C", link_id TEXT COLLATE "C",
    apple_client_id TEXT COLLATE "C", scopes TEXT COLLATE "C" NOT NULL, has_tv_session BIGINT NOT NULL, created_at_ms BIGINT NOT NULL,
    last_used_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS streaming_session_account ON streaming_session (account_id);
CREATE INDEX IF NOT EXISTS streaming_session_family ON streaming_session (family_id) WHERE family_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS streaming_session_link ON streaming_session (link_id) WHERE link_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS streaming_session_device ON streaming_session (device_id, requestor);
CREATE INDEX IF NOT EXISTS streaming_session_expiry ON streaming_session (expires_at_ms);
CREATE INDEX IF NOT EXISTS streaming_session_use ON streaming_session (last_used_at_ms);
CREATE TABLE IF NOT EXISTS family (
    id TEXT COLLATE "C" NOT NULL UNIQUE, account_id TEXT COLLATE "C" NOT NULL, programmer TEXT COLLATE "C" NOT NULL, bundle_id TEXT COLLATE "C" NOT NULL,
    environment BIGINT NOT NULL, state BIGINT NOT NULL, link_id TEXT COLLATE "C", device_id TEXT COLLATE "C" NOT NULL, device_label TEXT COLLATE "C" NOT NULL,
    created_at_ms BIGINT NOT NULL, last_used_at_ms BIGINT, idle_at_ms BIGINT, revoked_at_ms BIGINT, reason TEXT COLLATE "C" NOT NULL,
    forget_at_ms BIGINT
);
CREATE INDEX IF NOT EXISTS family_account ON family (account_id);
CREATE INDEX IF NOT EXISTS family_link ON family (link_id) WHERE link_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS family_idle ON family (idle_at_ms) WHERE idle_at_ms IS NOT NULL;
CREATE INDEX IF NOT EXISTS family_forget ON family (forget_at_ms) WHERE forget_at_ms IS NOT NULL;
CREATE TABLE IF NOT EXISTS token_version (
    id TEXT COLLATE "C" NOT NULL UNIQUE, family_id TEXT COLLATE "C" NOT NULL, number BIGINT NOT NULL, comparison BYTEA NOT NULL, sealed BYTEA,
    state BIGINT NOT NULL, created_at_ms BIGINT NOT NULL, activated_at_ms BIGINT, rotate_at_ms BIGINT, superseded_at_ms BIGINT,
    forget_at_ms BIGINT, UNIQUE (family_id, number)
);
CREATE UNIQUE INDEX IF NOT EXISTS token_version_active ON token_version (family_id) WHERE state = 2;
CREATE INDEX IF NOT EXISTS token_version_rotation ON token_version (rotate_at_ms) WHERE rotate_at_ms IS NOT NULL;
CREATE INDEX IF NOT EXISTS token_version_forget ON token_version (forget_at_ms) WHERE forget_at_ms IS NOT NULL;
CREATE TABLE IF NOT EXISTS redemption (
    family_id TEXT COLLATE "C" NOT NULL, device_id TEXT COLLATE "C" NOT NULL, address_hash BYTEA NOT NULL, outcome TEXT COLLATE "C" NOT NULL, at_ms BIGINT NOT NULL,
    expires_at_ms BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS redemption_family ON redemption (family_id, device_id);
CREATE INDEX IF NOT EXISTS redemption_expiry ON redemption (expires_at_ms);
CREATE TABLE IF NOT EXISTS idempotency (
    place BYTEA NOT NULL UNIQUE, request BYTEA NOT NULL, answer BYTEA NOT NULL, expires_at_ms BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS idempotency_expiry ON idempotency (expires_at_ms);
CREATE TABLE IF NOT EXISTS outbox (
    id BIGSERIAL PRIMARY KEY, lane TEXT COLLATE "C" NOT NULL, call TEXT COLLATE "C" NOT NULL, programmer TEXT COLLATE "C" NOT NULL, subject TEXT COLLATE "C" NOT NULL,
    payload BYTEA NOT NULL, state BIGINT NOT NULL, is_claimed BIGINT NOT NULL, attempts BIGINT NOT NULL,
    refused_credentials BIGINT NOT NULL, is_unclear BIGINT NOT NULL, last_status BIGINT NOT NULL, created_at_ms BIGINT NOT NULL,
    began_at_ms BIGINT NOT NULL, next_at_ms BIGINT NOT NULL, given_up_at_ms BIGINT, lane_no BIGINT NOT NULL, UNIQUE (lane, lane_no)
);
CREATE INDEX IF NOT EXISTS outbox_due ON outbox (state, next_at_ms);
CREATE TABLE IF NOT EXISTS security_event (
    at_ms BIGINT NOT NULL, kind TEXT COLLATE "C" NOT NULL, family_id TEXT COLLATE "C" NOT NULL, account_id TEXT COLLATE "C" NOT NULL, requestor TEXT COLLATE "C" NOT NULL,
    expires_at_ms BIGINT NOT NULL, number BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS security_event_time ON security_event (at_ms);
CREATE INDEX IF NOT EXISTS security_event_expiry ON security_event (expires_at_ms);
CREATE TABLE IF NOT EXISTS web_link (
    handle BYTEA NOT NULL UNIQUE, account_id TEXT COLLATE "C" NOT NULL, programmer TEXT COLLATE "C" NOT NULL, requestor TEXT COLLATE "C" NOT NULL,
    expires_at_ms BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS web_link_expiry ON web_link (expires_at_ms);
CREATE INDEX IF NOT EXISTS web_link_account ON web_link (account_id);
CREATE TABLE IF NOT EXISTS web_session (
    secret BYTEA NOT NULL UNIQUE, account_id TEXT COLLATE "C" NOT NULL, programmer TEXT COLLATE "C" NOT NULL, requestor TEXT COLLATE "C" NOT NULL,
    expires_at_ms BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS web_session_expiry ON web_session (expires_at_ms);
CREATE INDEX IF NOT EXISTS web_session_account ON web_session (account_id);
CREATE TABLE IF NOT EXISTS apple_link (
    id TEXT COLLATE "C" NOT NULL UNIQUE, programmer TEXT COLLATE "C" NOT NULL, team TEXT COLLATE "C" NOT NULL, subject TEXT COLLATE "C" NOT NULL, account_id TEXT COLLATE "C" NOT NULL,
    real_user_status BIGINT, is_mail_allowed BIGINT NOT NULL, mail_changed_at_ms BIGINT, created_at_ms BIGINT NOT NULL,
    authorized_at_ms BIGINT NOT NULL, UNIQUE (team, subject), UNIQUE (account_id, team)
);
CREATE TABLE IF NOT EXISTS apple_consent (
    link_id TEXT COLLATE "C" NOT NULL, group_id TEXT COLLATE "C" NOT NULL, authorized_at_ms BIGINT NOT NULL, revoked_at_ms BIGINT,
    PRIMARY KEY (link_id, group_id)
);
CREATE TABLE IF NOT EXISTS apple_grant (
    link_id TEXT COLLATE "C" NOT NULL, client_id TEXT COLLATE "C" NOT NULL, group_id TEXT COLLATE "C" NOT NULL, sealed BYTEA NOT NULL, validated_at_ms BIGINT NOT NULL,
    next_check_at_ms BIGINT NOT NULL, unclear_since_ms BIGINT, UNIQUE (link_id, client_id)
);
CREATE INDEX IF NOT EXISTS apple_grant_due ON apple_grant (next_check_at_ms);
CREATE TABLE IF NOT EXISTS apple_transfer (
    team TEXT COLLATE "C" NOT NULL, transfer_subject TEXT COLLATE "C" NOT NULL, programmer TEXT COLLATE "C" NOT NULL, account_id TEXT COLLATE "C" NOT NULL,
    accepted_at_ms BIGINT NOT NULL, UNIQUE (team, transfer_subject)
);
CREATE INDEX IF NOT EXISTS apple_transfer_account ON apple_transfer (account_id);
CREATE TABLE IF NOT EXISTS apple_nonce (
    digest BYTEA NOT NULL UNIQUE, holder TEXT COLLATE "C" NOT NULL, client_id TEXT COLLATE "C" NOT NULL, expires_at_ms BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS apple_nonce_expiry ON apple_nonce (expires_at_ms);
CREATE TABLE IF NOT EXISTS apple_spent (
    kind TEXT COLLATE "C" NOT NULL, digest BYTEA NOT NULL, expires_at_ms BIGINT NOT NULL, UNIQUE (kind, digest)
);
CREATE INDEX IF NOT EXISTS apple_spent_expiry ON apple_spent (expires_at_ms);
CREATE TABLE IF NOT EXISTS apple_ticket (
    digest BYTEA NOT NULL UNIQUE, holder TEXT COLLATE "C" NOT NULL, sealed BYTEA NOT NULL, expires_at_ms BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS apple_ticket_expiry ON apple_ticket (expires_at_ms);
CREATE TABLE IF NOT EXISTS apple_web_state (
    digest BYTEA NOT NULL UNIQUE, browser BYTEA NOT NULL, requestor TEXT COLLATE "C" NOT NULL, client_id TEXT COLLATE "C" NOT NULL, return_url TEXT COLLATE "C" NOT NULL,
    expires_at_ms BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS apple_web_state_expiry ON apple_web_state (expires_at_ms);
CREATE TABLE IF NOT EXISTS apple_notification (
    team TEXT COLLATE "C" NOT NULL, jti TEXT COLLATE "C" NOT NULL, type TEXT COLLATE "C" NOT NULL, received_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL,
    UNIQUE (team, jti)
);
CREATE INDEX IF NOT EXISTS apple_notification_expiry ON apple_notification (expires_at_ms);
CREATE TABLE IF NOT EXISTS apple_key_set (
    id BIGINT PRIMARY KEY CHECK (id = 1), document BYTEA NOT NULL, fetched_at_ms BIGINT NOT NULL, lifetime_ms BIGINT NOT NULL
);
-- Step 2-people
CREATE INDEX IF NOT EXISTS account_login_person ON account_login (mvpd, user_id);
CREATE INDEX IF NOT EXISTS family_device ON family (device_id);
CREATE INDEX IF NOT EXISTS redemption_device ON redemption (device_id);
CREATE INDEX IF NOT EXISTS security_event_account ON security_event (account_id);
CREATE INDEX IF NOT EXISTS security_event_family ON security_event (family_id);
CREATE TABLE IF NOT EXISTS erased (subject TEXT COLLATE "C" PRIMARY KEY, erased_at_ms BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL);
CREATE INDEX IF NOT EXISTS erased_expiry ON erased (expires_at_ms);
