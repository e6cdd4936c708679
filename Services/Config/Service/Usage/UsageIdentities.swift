internal import Storage

/// Finds or makes the numbers of combinations, in one transaction.
struct UsageIdentities {
    /// Combinations that one statement looks for.
    private static let atOnce = 32
    private static let search = Statement(
        "SELECT digest, id, last_day FROM usage_combination WHERE digest IN (\(Array(repeating: "?", count: atOnce).joined(separator: ", ")))")

    private struct Known {
        let id: Int64
        /// The last day with a sum.
        var day: Int64
    }

    private let database: Database
    private let most: Int
    private var count: Int?
    private var last: Int64?
    /// By digest; what is not here is not in the store either.
    private var known: [[UInt8]: Known] = [:]

    /// - Parameters:
    ///   - combinations: That are to be found.
    ///   - most: How many are told apart.
    init(of combinations: [UsageCombination], most: Int, _ database: Database) throws {
        self.database = database
        self.most = most
        var digests = Set((combinations + combinations.map(\.collapsed)).map(\.digest)).map { $0 }[...]
        while let last = digests.last {
            let some = digests.prefix(Self.atOnce)
            digests = digests.dropFirst(Self.atOnce)
            let places = some + Array(repeating: last, count: Self.atOnce - some.count)
            let found = try database.all(Self.search, Arguments(places.map { .bytes($0) })) { columns in
                (digest: columns.next() as [UInt8], Known(id: columns.next(), day: columns.next()))
            }
            for (digest, row) in found { known[digest] = row }
        }
    }

    /// - Parameter day: That it is counted on.
    mutating func id(of combination: UsageCombination, on day: Int64) throws -> Int64 {
        if let id = try known(combination.digest, on: day) { return id }
        guard try isFull() else { return try insert(combination, on: day) }
        let collapsed = combination.collapsed
        return try known(collapsed.digest, on: day) ?? insert(collapsed, on: day)
    }

    private mutating func known(_ digest: [UInt8], on day: Int64) throws -> Int64? {
        guard let found = known[digest] else { return nil }
        if found.day < day {
            try database.run("UPDATE usage_combination SET last_day = ? WHERE id = ?", [day, found.id])
            known[digest]?.day = day
        }
        return found.id
    }

    private mutating func isFull() throws -> Bool {
        let known = if let count { count } else { try database.value("SELECT count(*) FROM usage_combination") ?? 0 }
        count = known
        return known >= most
    }

    private mutating func insert(_ combination: UsageCombination, on day: Int64) throws -> Int64 {
        // The highest number stays as long as the store, so that none is given twice.
        let id = try (last ?? database.value("SELECT max(id) FROM usage_combination") ?? 0) + 1
        last = id
        try database.run(
            """
            INSERT INTO usage_combination (
                id, digest, last_day, media_company, dc, proxy, mvpd, requestor_id, channel, resource_id, device, eap, os_family, browser_family, cdt,
                platform_version, os_type, browser_version, reason, sso_type, platform, application_name, application_version, customer_app, api,
                decision_type
            ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, [id, combination.digest, day] + Arguments(combination.values.map { .text($0) }))
        count = (count ?? 0) + 1
        known[combination.digest] = Known(id: id, day: day)
        return id
    }
}
