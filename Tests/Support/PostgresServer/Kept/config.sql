-- Step 1-tables
CREATE TABLE IF NOT EXISTS store_identity ("only" BIGINT PRIMARY KEY CHECK ("only" = 1), id TEXT COLLATE "C" NOT NULL);
CREATE TABLE IF NOT EXISTS published (
    "only" BIGINT PRIMARY KEY CHECK ("only" = 1), version BIGINT NOT NULL, changed_at_ms BIGINT NOT NULL, content_sha256 TEXT COLLATE "C" NOT NULL,
    inputs_sha256 TEXT COLLATE "C" NOT NULL DEFAULT '', content BYTEA, content_version BIGINT NOT NULL DEFAULT 0, reading BIGINT NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS statement (
    software_id TEXT COLLATE "C" PRIMARY KEY, application_id TEXT COLLATE "C" NOT NULL, created_at_ms BIGINT NOT NULL, revoked_at_ms BIGINT
);
CREATE INDEX IF NOT EXISTS statement_by_application ON statement (application_id);
CREATE TABLE IF NOT EXISTS document (sha256 TEXT COLLATE "C" PRIMARY KEY, content BYTEA NOT NULL);
CREATE TABLE IF NOT EXISTS version (
    version BIGINT PRIMARY KEY, created_at_ms BIGINT NOT NULL, author TEXT COLLATE "C" NOT NULL, approver TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C" NOT NULL, origin BIGINT NOT NULL, document_sha256 TEXT COLLATE "C" NOT NULL REFERENCES document (sha256),
    programmers TEXT COLLATE "C" NOT NULL, previous_sha256 TEXT COLLATE "C" NOT NULL, record_sha256 TEXT COLLATE "C" NOT NULL
);
CREATE TABLE IF NOT EXISTS audit (
    number BIGINT PRIMARY KEY, created_at_ms BIGINT NOT NULL, author TEXT COLLATE "C" NOT NULL, action TEXT COLLATE "C" NOT NULL, text TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL, programmers TEXT COLLATE "C" NOT NULL, previous_sha256 TEXT COLLATE "C" NOT NULL, record_sha256 TEXT COLLATE "C" NOT NULL
);
CREATE TABLE IF NOT EXISTS draft (
    author TEXT COLLATE "C" PRIMARY KEY, base_version BIGINT NOT NULL, content BYTEA NOT NULL, changed_at_ms BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS pending_push (
    id TEXT COLLATE "C" PRIMARY KEY, author TEXT COLLATE "C" NOT NULL, description TEXT COLLATE "C" NOT NULL, base_version BIGINT NOT NULL, content BYTEA NOT NULL,
    created_at_ms BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS degradation_rule (
    id TEXT COLLATE "C" PRIMARY KEY, rule BYTEA NOT NULL, author TEXT COLLATE "C" NOT NULL, reason TEXT COLLATE "C" NOT NULL, ends_at_ms BIGINT NOT NULL, number BIGINT
);
CREATE INDEX IF NOT EXISTS degradation_rule_by_end ON degradation_rule (ends_at_ms);
CREATE TABLE IF NOT EXISTS former_degradation_rule (
    number BIGINT PRIMARY KEY, rule BYTEA NOT NULL, author TEXT COLLATE "C" NOT NULL, reason TEXT COLLATE "C" NOT NULL, ended_at_ms BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS administrator_session (
    digest TEXT COLLATE "C" PRIMARY KEY, name TEXT COLLATE "C" NOT NULL, mark TEXT COLLATE "C" NOT NULL, client TEXT COLLATE "C" NOT NULL, opened_at_ms BIGINT NOT NULL,
    used_at_ms BIGINT NOT NULL, ends_at_ms BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS administrator_session_by_end ON administrator_session (ends_at_ms);
CREATE TABLE IF NOT EXISTS usage_combination (
    id BIGINT PRIMARY KEY, digest BYTEA NOT NULL UNIQUE, last_day BIGINT NOT NULL, media_company TEXT COLLATE "C" NOT NULL, dc TEXT COLLATE "C" NOT NULL,
    proxy TEXT COLLATE "C" NOT NULL, mvpd TEXT COLLATE "C" NOT NULL, requestor_id TEXT COLLATE "C" NOT NULL, channel TEXT COLLATE "C" NOT NULL, resource_id TEXT COLLATE "C" NOT NULL,
    device TEXT COLLATE "C" NOT NULL, eap TEXT COLLATE "C" NOT NULL, os_family TEXT COLLATE "C" NOT NULL, browser_family TEXT COLLATE "C" NOT NULL, cdt TEXT COLLATE "C" NOT NULL,
    platform_version TEXT COLLATE "C" NOT NULL, os_type TEXT COLLATE "C" NOT NULL, browser_version TEXT COLLATE "C" NOT NULL, reason TEXT COLLATE "C" NOT NULL,
    sso_type TEXT COLLATE "C" NOT NULL, platform TEXT COLLATE "C" NOT NULL, application_name TEXT COLLATE "C" NOT NULL, application_version TEXT COLLATE "C" NOT NULL,
    customer_app TEXT COLLATE "C" NOT NULL, api TEXT COLLATE "C" NOT NULL, decision_type TEXT COLLATE "C" NOT NULL
);
CREATE INDEX IF NOT EXISTS usage_combination_by_day ON usage_combination (last_day);
CREATE TABLE IF NOT EXISTS usage_minute (
    moment BIGINT NOT NULL, combination BIGINT NOT NULL, authn_attempts BIGINT NOT NULL, authn_pending BIGINT NOT NULL,
    authn_successful BIGINT NOT NULL, authn_failed BIGINT NOT NULL, authz_attempts BIGINT NOT NULL, authz_successful BIGINT NOT NULL,
    authz_failed BIGINT NOT NULL, authz_rejected BIGINT NOT NULL, authz_latency_ms BIGINT NOT NULL, media_tokens BIGINT NOT NULL,
    decision_attempts BIGINT NOT NULL, decision_successful BIGINT NOT NULL, decision_failed BIGINT NOT NULL, sso BIGINT NOT NULL,
    PRIMARY KEY (moment, combination)
);
CREATE TABLE IF NOT EXISTS usage_hour (
    moment BIGINT NOT NULL, combination BIGINT NOT NULL, authn_attempts BIGINT NOT NULL, authn_pending BIGINT NOT NULL,
    authn_successful BIGINT NOT NULL, authn_failed BIGINT NOT NULL, authz_attempts BIGINT NOT NULL, authz_successful BIGINT NOT NULL,
    authz_failed BIGINT NOT NULL, authz_rejected BIGINT NOT NULL, authz_latency_ms BIGINT NOT NULL, media_tokens BIGINT NOT NULL,
    decision_attempts BIGINT NOT NULL, decision_successful BIGINT NOT NULL, decision_failed BIGINT NOT NULL, sso BIGINT NOT NULL,
    PRIMARY KEY (moment, combination)
);
CREATE TABLE IF NOT EXISTS usage_day (
    moment BIGINT NOT NULL, combination BIGINT NOT NULL, authn_attempts BIGINT NOT NULL, authn_pending BIGINT NOT NULL,
    authn_successful BIGINT NOT NULL, authn_failed BIGINT NOT NULL, authz_attempts BIGINT NOT NULL, authz_successful BIGINT NOT NULL,
    authz_failed BIGINT NOT NULL, authz_rejected BIGINT NOT NULL, authz_latency_ms BIGINT NOT NULL, media_tokens BIGINT NOT NULL,
    decision_attempts BIGINT NOT NULL, decision_successful BIGINT NOT NULL, decision_failed BIGINT NOT NULL, sso BIGINT NOT NULL,
    PRIMARY KEY (moment, combination)
);
CREATE TABLE IF NOT EXISTS usage_copy (copy TEXT COLLATE "C" PRIMARY KEY, sequence BIGINT NOT NULL, heard_at_ms BIGINT NOT NULL);
CREATE INDEX IF NOT EXISTS usage_copy_by_time ON usage_copy (heard_at_ms);
-- Step 2-history-stays
SET LOCAL client_min_messages = warning;
CREATE OR REPLACE FUNCTION history_stays() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    RAISE EXCEPTION 'the history of the catalogue never changes' USING ERRCODE = 'restrict_violation';
END
$body$;
DROP TRIGGER IF EXISTS version_stays ON version;
CREATE TRIGGER version_stays BEFORE UPDATE OR DELETE ON version FOR EACH ROW EXECUTE FUNCTION history_stays();
DROP TRIGGER IF EXISTS version_remains ON version;
CREATE TRIGGER version_remains BEFORE TRUNCATE ON version FOR EACH STATEMENT EXECUTE FUNCTION history_stays();
DROP TRIGGER IF EXISTS audit_stays ON audit;
CREATE TRIGGER audit_stays BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION history_stays();
DROP TRIGGER IF EXISTS audit_remains ON audit;
CREATE TRIGGER audit_remains BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION history_stays();
DROP TRIGGER IF EXISTS document_stays ON document;
CREATE TRIGGER document_stays BEFORE UPDATE OR DELETE ON document FOR EACH ROW EXECUTE FUNCTION history_stays();
DROP TRIGGER IF EXISTS document_remains ON document;
CREATE TRIGGER document_remains BEFORE TRUNCATE ON document FOR EACH STATEMENT EXECUTE FUNCTION history_stays();
-- Step 3-statement-keys
CREATE TABLE IF NOT EXISTS statement_key (
    kid TEXT COLLATE "C" PRIMARY KEY, jwk TEXT COLLATE "C" NOT NULL, since_ms BIGINT NOT NULL, retired_at_ms BIGINT
);
-- Step 4-signed-in-people
ALTER TABLE administrator_session ADD COLUMN IF NOT EXISTS role TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE administrator_session ADD COLUMN IF NOT EXISTS programmers TEXT COLLATE "C" NOT NULL DEFAULT '';
-- Step 5-start-of-audit
CREATE TABLE IF NOT EXISTS audit_start (number BIGINT PRIMARY KEY, record_sha256 TEXT COLLATE "C" NOT NULL, removed_at_ms BIGINT NOT NULL);
-- Step 6-start-of-audit-stays
SET LOCAL client_min_messages = warning;
CREATE OR REPLACE FUNCTION audit_remains() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF TG_OP = 'DELETE' AND OLD.number <= coalesce((SELECT max(number) FROM audit_start), 0) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'an audit record never changes, and is never deleted before its time' USING ERRCODE = 'restrict_violation';
END
$body$;
DROP TRIGGER IF EXISTS audit_stays ON audit;
CREATE TRIGGER audit_stays BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION audit_remains();
DROP TRIGGER IF EXISTS audit_start_stays ON audit_start;
CREATE TRIGGER audit_start_stays BEFORE UPDATE OR DELETE ON audit_start FOR EACH ROW EXECUTE FUNCTION history_stays();
DROP TRIGGER IF EXISTS audit_start_remains ON audit_start;
CREATE TRIGGER audit_start_remains BEFORE TRUNCATE ON audit_start FOR EACH STATEMENT EXECUTE FUNCTION history_stays();
-- Step 7-owners-of-files
CREATE TABLE IF NOT EXISTS secret_owner (
    reference TEXT COLLATE "C" PRIMARY KEY, programmer TEXT COLLATE "C" NOT NULL, is_open BIGINT NOT NULL, changed_at_ms BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS progress (name TEXT COLLATE "C" PRIMARY KEY, value BIGINT NOT NULL);
-- Step 8-lives
CREATE TABLE IF NOT EXISTS entry_life (
    kind TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, owner TEXT COLLATE "C" NOT NULL, since_ms BIGINT NOT NULL, until_ms BIGINT,
    PRIMARY KEY (kind, id, since_ms)
);
