import Storage
import Testing

/// The steps of a server's store, which are written from those of a file.
@Suite struct PostgresStepsTests {
    private static let file = [
        Migration(
            "1-people",
            sql: """
                CREATE TABLE person (
                    -- A name; not an id.
                    id TEXT PRIMARY KEY NOT NULL, user TEXT NOT NULL DEFAULT 'x; y', seen_ms INTEGER, UNIQUE (user)
                ) WITHOUT ROWID;
                CREATE INDEX person_seen ON person (seen_ms);
                CREATE TABLE pet (number INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL REFERENCES person (id), picture BLOB NOT NULL DEFAULT x'')
                """),
        Migration(
            "2-rebuilt",
            sql: """
                CREATE TABLE new_person (id TEXT PRIMARY KEY NOT NULL, user TEXT NOT NULL, UNIQUE (user));
                INSERT INTO new_person SELECT id, user FROM person;
                DROP TABLE person;
                ALTER TABLE new_person RENAME TO person;
                CREATE TRIGGER person_stays BEFORE DELETE ON person BEGIN SELECT RAISE(ABORT, 'no; never'); END;
                ALTER TABLE person ADD COLUMN born_ms INTEGER;
                CREATE UNIQUE INDEX person_born ON person (lower(user)) WHERE born_ms IS NOT NULL
                """),
        Migration("3-names", sql: "ALTER TABLE person ADD COLUMN name TEXT NOT NULL DEFAULT ''", isAdditive: true),
        Migration(
            "4-more",
            statements: [
                "CREATE TABLE note (text TEXT, mark BLOB DEFAULT x'0A')", "ALTER TABLE note ADD COLUMN at_ms INTEGER", "DROP INDEX person_born",
            ],
            isAdditive: true),
    ]

    private static func texts(_ steps: [Migration]) -> [String] { steps.flatMap { step in step.statements.map { "\(step.name): \($0)" } } }

    @Test("the first step makes tables as the file's last one leaves them; later ones only change what was there")
    func derived() {
        let steps = PostgresSteps(of: Self.file).step("1-tables", through: "2-rebuilt").all
        #expect(
            Self.texts(steps) == [
                #"1-tables: CREATE TABLE IF NOT EXISTS person (id TEXT COLLATE "C" PRIMARY KEY NOT NULL, "user" TEXT COLLATE "C" NOT NULL, born_ms BIGINT, UNIQUE ("user"))"#,
                #"1-tables: CREATE TABLE IF NOT EXISTS pet (number BIGSERIAL PRIMARY KEY, owner TEXT COLLATE "C" NOT NULL REFERENCES person (id), picture BYTEA NOT NULL DEFAULT '')"#,
                #"1-tables: CREATE UNIQUE INDEX IF NOT EXISTS person_born ON person (lower("user")) WHERE born_ms IS NOT NULL"#,
                #"3-names: ALTER TABLE person ADD COLUMN IF NOT EXISTS name TEXT COLLATE "C" NOT NULL DEFAULT ''"#,
                #"4-more: DROP INDEX IF EXISTS person_born"#,
                #"4-more: CREATE TABLE IF NOT EXISTS note (text TEXT COLLATE "C", mark BYTEA DEFAULT '\x0A', at_ms BIGINT)"#,
            ])
        #expect(steps.map(\.isAdditive) == [false, true, true])
    }

    @Test("a server's own words stand where the engines differ on purpose, and keys alone may be compared by octets")
    func differences() {
        let steps = PostgresSteps(of: [Self.file[0]], collated: .keys)
            .step("1-tables", through: "1-people", without: ["person_seen"], replacing: ["pet": "CREATE TABLE pet ()"], and: ["SELECT 1"])
            .step("2-triggers", own: ["CREATE TRIGGER t"]).all
        #expect(
            Self.texts(steps) == [
                #"1-tables: CREATE TABLE IF NOT EXISTS person (id TEXT COLLATE "C" PRIMARY KEY NOT NULL, "user" TEXT NOT NULL DEFAULT 'x; y', seen_ms BIGINT, UNIQUE ("user"))"#,
                "1-tables: CREATE TABLE pet ()", "1-tables: SELECT 1", "2-triggers: CREATE TRIGGER t",
            ])
    }
}
