internal import Storage

/// The tables of `SqlAuthenticationStore+Schema.swift` in PostgreSQL, and those that only copies on several hosts need.
enum PostgresAuthenticationSchema {
    /// Released steps never change. A new step of the file has one here by itself, under its own name.
    static let steps = PostgresSteps(of: SqlAuthenticationStore.migrations)
        .step("1-tables", through: "22-service-tokens", and: tablesOfCopies)
        .step("2-test-sign-ins", through: "23-test-sign-ins").step("3-bridge", through: "24-bridge")
        .step("4-bridge-people", through: "25-bridge-people").step("5-people", through: "26-people")
        .step("6-scheduled-sign-ins", through: "27-scheduled-sign-ins").step("7-callbacks", through: "28-callbacks")
        .step("8-announced-issuers", through: "29-announced-issuers").step("9-logout-hints", through: "30-logout-hints")
        .step("10-lost-clients", through: "31-lost-clients")
        .all

    private static let tablesOfCopies = [
        // Counts what memory of other copies must hear of; polled.
        #"CREATE TABLE IF NOT EXISTS epoch (name TEXT COLLATE "C" PRIMARY KEY, value BIGINT NOT NULL)"#,
        "INSERT INTO epoch (name, value) VALUES ('client', 0) ON CONFLICT (name) DO NOTHING",
        // The reports of all copies; where the store is a file, each copy knows its own.
        """
        CREATE TABLE IF NOT EXISTS sign_in_report (
            trace TEXT COLLATE "C" NOT NULL, ended_at_ms BIGINT NOT NULL, mvpd TEXT COLLATE "C" NOT NULL, content BYTEA NOT NULL,
            PRIMARY KEY (trace, ended_at_ms)
        )
        """,
        "CREATE INDEX IF NOT EXISTS sign_in_report_end ON sign_in_report (ended_at_ms)",
        "CREATE INDEX IF NOT EXISTS sign_in_report_mvpd ON sign_in_report (mvpd, ended_at_ms)",
    ]

    /// The sweeps of tables that only PostgreSQL has.
    static func sweeps(reportHours: Int) -> [Sweep] {
        [Sweep(table: "sign_in_report", key: ["trace", "ended_at_ms"], expiryColumn: "ended_at_ms", grace: .seconds(reportHours * 3600))]
    }
}
