-- Step 1-tables
CREATE TABLE IF NOT EXISTS authz_tokens (
    key TEXT COLLATE "C" PRIMARY KEY, mvpd TEXT NOT NULL, proxy_mvpd TEXT, expires_at_ms BIGINT NOT NULL, degradation_rule TEXT
);
CREATE INDEX IF NOT EXISTS authz_tokens_by_expiry ON authz_tokens (expires_at_ms);
CREATE TABLE IF NOT EXISTS copy_number (
    service TEXT COLLATE "C" NOT NULL, number BIGINT NOT NULL, holder TEXT NOT NULL, until_ms BIGINT NOT NULL,
    given_ms BIGINT NOT NULL, PRIMARY KEY (service, number)
);
-- Step 2-refusals
CREATE TABLE IF NOT EXISTS refusals (
    session TEXT COLLATE "C" PRIMARY KEY, code TEXT NOT NULL, source BIGINT NOT NULL, refused_at_ms BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS refusals_by_time ON refusals (refused_at_ms);
