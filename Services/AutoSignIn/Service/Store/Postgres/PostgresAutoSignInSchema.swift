internal import Storage

/// The tables of `AutoSignInStore+Schema.swift` and `AutoSignInStore+AppleSchema.swift` in PostgreSQL.
enum PostgresAutoSignInSchema {
    /// Released steps never change. A new step of the file has one here by itself, under its own name.
    static let steps = PostgresSteps(of: AutoSignInStore.migrations)
        .step(
            "1-tables", through: "9-lane-numbers",
            // SQLite alone folds letter case by `NOCASE`, and numbers what the release before inserted.
            without: ["account_email", "outbox_lane", "outbox_lane_no"], replacing: ["outbox": outbox],
            and: [
                """
                INSERT INTO store_metadata (name, value) VALUES ('owner', '\(AutoSignInStore.owner)'), ('layout', '\(AutoSignInStore.layout)')
                ON CONFLICT (name) DO NOTHING
                """
            ]
        )
        .step("2-people", through: "10-people").all

    /// The order of a queue is `lane_no`: ids do not follow commits.
    private static let outbox = """
        CREATE TABLE IF NOT EXISTS outbox (
            id BIGSERIAL PRIMARY KEY, lane TEXT COLLATE "C" NOT NULL, call TEXT COLLATE "C" NOT NULL, programmer TEXT COLLATE "C" NOT NULL,
            subject TEXT COLLATE "C" NOT NULL, payload BYTEA NOT NULL, state BIGINT NOT NULL, is_claimed BIGINT NOT NULL, attempts BIGINT NOT NULL,
            refused_credentials BIGINT NOT NULL, is_unclear BIGINT NOT NULL, last_status BIGINT NOT NULL, created_at_ms BIGINT NOT NULL,
            began_at_ms BIGINT NOT NULL, next_at_ms BIGINT NOT NULL, given_up_at_ms BIGINT, lane_no BIGINT NOT NULL, UNIQUE (lane, lane_no)
        )
        """
}
