import Testing

@testable import StoragePostgres

@Suite struct PlaceholderTests {
    @Test(
        "places are numbered as PostgreSQL has them, and what stands in quotes stays",
        arguments: [
            ("SELECT 1", "SELECT 1"), ("SELECT a FROM t WHERE a = ? AND b = ?", "SELECT a FROM t WHERE a = $1 AND b = $2"),
            ("UPDATE t SET a = ?2 WHERE b = ?1 AND c = ?2", "UPDATE t SET a = $2 WHERE b = $1 AND c = $2"), ("VALUES (?10, ?1)", "VALUES ($10, $1)"),
            ("SELECT '?', \"?\", ? FROM t WHERE a = 'it''s ?'", "SELECT '?', \"?\", $1 FROM t WHERE a = 'it''s ?'"), ("é ?", "é $1"),
        ])
    func numbers(text: String, expected: String) {
        #expect(numberedPlaces(text) == expected)
    }
}
