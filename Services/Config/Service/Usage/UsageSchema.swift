extension UsageStore {
    /// The sums of one length of time, and what each of their rows had in common.
    static let schema = """
        CREATE TABLE usage_combination (
            id INTEGER PRIMARY KEY,
            -- Of all values.
            digest BLOB NOT NULL UNIQUE,
            -- The last day with a sum of it, as in usage_day.
            last_day INTEGER NOT NULL,
            media_company TEXT NOT NULL,
            dc TEXT NOT NULL,
            proxy TEXT NOT NULL,
            mvpd TEXT NOT NULL,
            requestor_id TEXT NOT NULL,
            channel TEXT NOT NULL,
            resource_id TEXT NOT NULL,
            device TEXT NOT NULL,
            eap TEXT NOT NULL,
            os_family TEXT NOT NULL,
            browser_family TEXT NOT NULL,
            cdt TEXT NOT NULL,
            platform_version TEXT NOT NULL,
            os_type TEXT NOT NULL,
            browser_version TEXT NOT NULL,
            reason TEXT NOT NULL,
            sso_type TEXT NOT NULL,
            platform TEXT NOT NULL,
            application_name TEXT NOT NULL,
            application_version TEXT NOT NULL,
            customer_app TEXT NOT NULL,
            api TEXT NOT NULL,
            decision_type TEXT NOT NULL
        );
        CREATE INDEX usage_combination_by_day ON usage_combination (last_day);
        -- Digits of a Pacific time: year, month, day, hour, minute.
        CREATE TABLE usage_minute (moment INTEGER NOT NULL, combination INTEGER NOT NULL, \(counts), PRIMARY KEY (moment, combination)) WITHOUT ROWID;
        -- Year, month, day, hour.
        CREATE TABLE usage_hour (moment INTEGER NOT NULL, combination INTEGER NOT NULL, \(counts), PRIMARY KEY (moment, combination)) WITHOUT ROWID;
        -- Year, month, day.
        CREATE TABLE usage_day (moment INTEGER NOT NULL, combination INTEGER NOT NULL, \(counts), PRIMARY KEY (moment, combination)) WITHOUT ROWID;
        -- The last batch that counted of each copy of a service.
        CREATE TABLE usage_copy (copy TEXT PRIMARY KEY, sequence INTEGER NOT NULL, heard_at_ms INTEGER NOT NULL);
        CREATE INDEX usage_copy_by_time ON usage_copy (heard_at_ms);
        """

    private static let counts = """
        authn_attempts INTEGER NOT NULL, authn_pending INTEGER NOT NULL, authn_successful INTEGER NOT NULL, authn_failed INTEGER NOT NULL, \
        authz_attempts INTEGER NOT NULL, authz_successful INTEGER NOT NULL, authz_failed INTEGER NOT NULL, authz_rejected INTEGER NOT NULL, \
        authz_latency_ms INTEGER NOT NULL, media_tokens INTEGER NOT NULL, decision_attempts INTEGER NOT NULL, decision_successful INTEGER NOT NULL, \
        decision_failed INTEGER NOT NULL, sso INTEGER NOT NULL
        """

    /// The same in PostgreSQL's words.
    static let postgresTables = [
        """
        CREATE TABLE IF NOT EXISTS usage_combination (
            id BIGINT PRIMARY KEY, digest BYTEA NOT NULL UNIQUE, last_day BIGINT NOT NULL, media_company \(text) NOT NULL, dc \(text) NOT NULL,
            proxy \(text) NOT NULL, mvpd \(text) NOT NULL, requestor_id \(text) NOT NULL, channel \(text) NOT NULL, resource_id \(text) NOT NULL,
            device \(text) NOT NULL, eap \(text) NOT NULL, os_family \(text) NOT NULL, browser_family \(text) NOT NULL, cdt \(text) NOT NULL,
            platform_version \(text) NOT NULL, os_type \(text) NOT NULL, browser_version \(text) NOT NULL, reason \(text) NOT NULL,
            sso_type \(text) NOT NULL, platform \(text) NOT NULL, application_name \(text) NOT NULL, application_version \(text) NOT NULL,
            customer_app \(text) NOT NULL, api \(text) NOT NULL, decision_type \(text) NOT NULL
        )
        """,
        "CREATE INDEX IF NOT EXISTS usage_combination_by_day ON usage_combination (last_day)",
        postgresSums("usage_minute"), postgresSums("usage_hour"), postgresSums("usage_day"),
        "CREATE TABLE IF NOT EXISTS usage_copy (copy \(text) PRIMARY KEY, sequence BIGINT NOT NULL, heard_at_ms BIGINT NOT NULL)",
        "CREATE INDEX IF NOT EXISTS usage_copy_by_time ON usage_copy (heard_at_ms)",
    ]

    /// Compared and ordered by octets.
    private static let text = #"TEXT COLLATE "C""#

    private static func postgresSums(_ table: String) -> String {
        """
        CREATE TABLE IF NOT EXISTS \(table) (
            moment BIGINT NOT NULL, combination BIGINT NOT NULL, authn_attempts BIGINT NOT NULL, authn_pending BIGINT NOT NULL,
            authn_successful BIGINT NOT NULL, authn_failed BIGINT NOT NULL, authz_attempts BIGINT NOT NULL, authz_successful BIGINT NOT NULL,
            authz_failed BIGINT NOT NULL, authz_rejected BIGINT NOT NULL, authz_latency_ms BIGINT NOT NULL, media_tokens BIGINT NOT NULL,
            decision_attempts BIGINT NOT NULL, decision_successful BIGINT NOT NULL, decision_failed BIGINT NOT NULL, sso BIGINT NOT NULL,
            PRIMARY KEY (moment, combination)
        )
        """
    }
}
