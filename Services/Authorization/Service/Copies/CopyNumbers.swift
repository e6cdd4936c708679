internal import Clocks
internal import Faults
internal import Storage
internal import Tokens

/// The rows of `copy_number`, in one transaction.
struct CopyNumbers {
    /// Reach of the instants that are given, and a second.
    static let rest: Duration = .seconds(121)
    static let lease: Duration = .seconds(30)
    private static let service = "authorization"

    let database: Database
    let holder: CopyHolder
    let now: Timestamp

    /// Takes the lowest number that nobody holds and whose seconds are all out of reach.
    /// - Returns: `nil` when all are held.
    func takeAny(until end: Timestamp) throws -> IssueWindow? {
        let rows = try database.all("SELECT number, holder, until_ms, given_ms FROM copy_number WHERE service = ? ORDER BY number", [Self.service]) {
            (number: $0.next() as Int, holder: $0.next() as String, until: $0.next() as Timestamp, given: $0.next() as Timestamp)
        }
        var taken = Set<Int>()
        for row in rows {
            let isHeld = row.until > now && CopyHolder(row.holder)?.isGone != true
            if isHeld || row.given > now - Self.rest { taken.insert(row.number) }
        }
        guard let number = MediaTokenIssuer.copies.first(where: { !taken.contains($0) }) else { return nil }
        return try take(number, until: end)
    }

    /// Takes that number, whoever has it: who had it can give no second that lies behind the end of its window.
    func take(_ number: Int, until end: Timestamp) throws -> IssueWindow {
        let given: Timestamp? = try database.value("SELECT given_ms FROM copy_number WHERE service = ? AND number = ?", [Self.service, number])
        let first = given ?? Timestamp(milliseconds: 0)
        let end = max(end, first + .seconds(1))
        try database.run(
            """
            INSERT INTO copy_number (service, number, holder, until_ms, given_ms) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (service, number) DO UPDATE SET holder = excluded.holder, until_ms = excluded.until_ms, given_ms = excluded.given_ms
            """, [Self.service, number, holder.text, now + Self.lease, end])
        return IssueWindow(copy: number, first: first, end: end)
    }

    /// - Returns: False when somebody else has the number.
    func extend(_ number: Int, until end: Timestamp) throws -> Bool {
        try database.run(
            """
            UPDATE copy_number SET until_ms = ?1, given_ms = CASE WHEN given_ms < ?2 THEN ?2 ELSE given_ms END
            WHERE service = ?3 AND number = ?4 AND holder = ?5
            """, [now + Self.lease, end, Self.service, number, holder.text]) == 1
    }

    /// Lets the next process have it at once, from the second after the last one that was given.
    func release(_ number: Int, given: Timestamp) throws {
        try database.run(
            "UPDATE copy_number SET until_ms = 0, given_ms = ? WHERE service = ? AND number = ? AND holder = ?",
            [given, Self.service, number, holder.text])
    }
}
