internal import Clocks
internal import Contracts
internal import Faults
internal import Storage

/// The sums of each minute, hour and day. So a report reads the coarsest that serves, and old sums go without being added up.
struct UsageStore: Sendable {
    private let store: Store
    private let limits: UsageSettings
    private let turn = WriterTurn()

    init(_ store: Store, limits: UsageSettings) {
        self.store = store
        self.limits = limits
    }

    /// A sum has one of these lengths.
    enum Level: CaseIterable, Sendable {
        case minute, hour, day

        /// The unit of a row's moment, in minutes' digits.
        var unit: Int64 {
            switch self {
            case .minute: 1
            case .hour: 100
            case .day: 10_000
            }
        }

        fileprivate var table: String {
            switch self {
            case .minute: "usage_minute"
            case .hour: "usage_hour"
            case .day: "usage_day"
            }
        }
    }

    /// Counts of one minute.
    struct Entry: Sendable {
        /// Pacific time, year to minute.
        let moment: Int64
        let combination: UsageCombination
        let counts: UsageCounts
    }

    // MARK: Taking in

    /// - Returns: False for a batch that counted before.
    func take(_ entries: [Entry], copy: String, sequence: UInt64, now: Timestamp) async throws(Fault) -> Bool {
        let take: @Sendable () async throws(Fault) -> Bool = { [store, limits] () async throws(Fault) in
            try await store.write { database in
                // All batches count in the same rows.
                try database.takeTurn(at: "usage_copy")
                let last: Int64 = try database.value("SELECT sequence FROM usage_copy WHERE copy = ?", [copy]) ?? 0
                guard last < Int64(clamping: sequence) else { return false }
                try database.run(
                    """
                    INSERT INTO usage_copy (copy, sequence, heard_at_ms) VALUES (?, ?, ?)
                    ON CONFLICT (copy) DO UPDATE SET sequence = excluded.sequence, heard_at_ms = excluded.heard_at_ms
                    """, [copy, Int64(clamping: sequence), now])
                var identities = try UsageIdentities(of: entries.map(\.combination), most: limits.combinations, database)
                var sums: [Place: UsageCounts] = [:]
                for entry in entries {
                    let id = try identities.id(of: entry.combination, on: entry.moment / Level.day.unit)
                    for level in Level.allCases {
                        sums[Place(level: level, moment: entry.moment / level.unit, combination: id), default: UsageCounts()] += entry.counts
                    }
                }
                for level in Level.allCases { try database.add(sums.filter { $0.key.level == level }, to: level) }
                return true
            }
        }
        return store.isCoherent ? try await take() : try await turn.taken(take)
    }

    fileprivate struct Place: Hashable {
        let level: Level
        let moment: Int64
        let combination: Int64
    }

    // MARK: Reading

    /// A combination in a piece of time.
    struct Bucket: Hashable, Sendable {
        /// The first digits of the level's moments.
        let time: Int64
        let combination: Int64
    }

    /// Rows that one report may read, and sums that it may make of them.
    private static let mostRows = 5_000_000
    private static let mostSums = 300_000
    /// Rows that an engine hands over at once.
    private static let page = 20_000

    /// - Parameters:
    ///   - moments: The moments of the level.
    ///   - divisor: Makes the time of a bucket of a moment.
    ///   - groups: Combinations that are added up, and the one of them whose sum it is; the others are left out.
    ///   - ends: Moments of combinations up to which they are left out too.
    /// - Returns: `nil` when there are too many rows to add up.
    func sums(
        of level: Level, in moments: Range<Int64>, divisor: Int64, groups: [Int64: Int64], after ends: [Int64: Int64] = [:]
    ) async throws(Fault) -> [Bucket: UsageCounts]? {
        try await store.read { database in
            let bounds: Arguments = [moments.lowerBound, moments.upperBound]
            let count: Int? = try database.value(Self.counting[level] ?? "", bounds + [Self.mostRows + 1])
            guard (count ?? 0) <= Self.mostRows else { return nil }
            var sums: [Bucket: UsageCounts] = [:]
            var last = (moment: moments.lowerBound, combination: Int64(0))
            var isMore = true
            while isMore {
                var rows = 0
                // In the order of their key: a sorter of the engine's would take longer than the sums.
                try database.session.query(Self.reading[level] ?? "", [last.moment, last.combination, moments.upperBound, Self.page]) { row in
                    var columns = ColumnReader(row)
                    last = (columns.next(), columns.next())
                    rows += 1
                    guard let group = groups[last.combination], ends[last.combination].map({ $0 < last.moment }) ?? true else { return true }
                    sums[Bucket(time: last.moment / divisor, combination: group), default: UsageCounts()] += UsageCounts(&columns)
                    return sums.count <= Self.mostSums
                }
                isMore = rows == Self.page && sums.count <= Self.mostSums
            }
            return sums.count <= Self.mostSums ? sums : nil
        }
    }

    /// Combinations with a number above this one.
    func combinations(after id: Int64) async throws(Fault) -> [(id: Int64, combination: UsageCombination)] {
        try await store.read { database in
            try database.all(
                """
                SELECT id, media_company, dc, proxy, mvpd, requestor_id, channel, resource_id, device, eap, os_family, browser_family, cdt,
                    platform_version, os_type, browser_version, reason, sso_type, platform, application_name, application_version, customer_app, api,
                    decision_type
                FROM usage_combination WHERE id > ? ORDER BY id
                """, [id]
            ) { columns in
                let id: Int64 = columns.next()
                return (id, UsageCombination(values: UsageCombination.stored.map { _ in columns.next() }))
            }
        }
    }

    private static let counting = statements { table in
        "SELECT count(*) FROM (SELECT moment FROM \(table) WHERE moment >= ? AND moment < ? LIMIT ?) AS counted"
    }

    private static let reading = statements { table in
        """
        SELECT moment, combination, \(UsageCounts.columns.joined(separator: ", ")) FROM \(table)
        WHERE (moment, combination) > (?, ?) AND moment < ? ORDER BY moment, combination LIMIT ?
        """
    }

    /// Rows that one statement adds: a round trip for each would take long where the store is elsewhere.
    fileprivate static let rowsAtOnce = 16
    fileprivate static let upserts = statements { upsert(1, into: $0) }
    fileprivate static let upsertsAtOnce = statements { upsert(rowsAtOnce, into: $0) }

    private static func upsert(_ rows: Int, into table: String) -> String {
        let columns = UsageCounts.columns
        let places = "(" + Array(repeating: "?", count: columns.count + 2).joined(separator: ", ") + ")"
        let changes = columns.map { "\($0) = \(table).\($0) + excluded.\($0)" }.joined(separator: ", ")
        return """
            INSERT INTO \(table) (moment, combination, \(columns.joined(separator: ", ")))
            VALUES \(Array(repeating: places, count: rows).joined(separator: ", "))
            ON CONFLICT (moment, combination) DO UPDATE SET \(changes)
            """
    }

    private static func statements(_ text: (_ table: String) -> String) -> [Level: Statement] {
        Dictionary(uniqueKeysWithValues: Level.allCases.map { ($0, Statement(text($0.table))) })
    }

    // MARK: Forgetting

    /// Rows that one write removes.
    private static let batch = 500

    /// Removes sums from before a moment, a batch at a time.
    /// - Parameter moment: Pacific time, year to minute.
    /// - Returns: The number of rows that went.
    func forget(_ level: Level, before moment: Int64) async throws(Fault) -> Int {
        let statement = Statement(
            """
            DELETE FROM \(level.table) WHERE (moment, combination) IN
                (SELECT moment, combination FROM \(level.table) WHERE moment < ? ORDER BY moment LIMIT ?)
            """)
        return try await repeatedly(statement, [moment / level.unit, Self.batch])
    }

    /// Removes combinations without a sum since a day, and copies that have not been heard of.
    func forgetCombinations(before moment: Int64, copiesBefore time: Timestamp) async throws(Fault) -> Int {
        let combinations = try await repeatedly(
            """
            DELETE FROM usage_combination WHERE id IN (
                SELECT id FROM usage_combination WHERE last_day < ? AND id < (SELECT max(id) FROM usage_combination) LIMIT ?)
            """, [moment / Level.day.unit, Self.batch])
        return try await combinations
            + repeatedly("DELETE FROM usage_copy WHERE copy IN (SELECT copy FROM usage_copy WHERE heard_at_ms < ? LIMIT ?)", [time, Self.batch])
    }

    private func repeatedly(_ statement: Statement, _ arguments: Arguments) async throws(Fault) -> Int {
        var total = 0
        while !Task.isCancelled {
            let removed = try await store.write { try $0.run(statement, arguments) }
            total += removed
            if removed < Self.batch { break }
        }
        return total
    }
}

extension Database {
    fileprivate func add(_ sums: [UsageStore.Place: UsageCounts], to level: UsageStore.Level) throws {
        guard let one = UsageStore.upserts[level], let several = UsageStore.upsertsAtOnce[level] else { return }
        var rows = sums.map { place, counts in
            [.integer(place.moment), .integer(place.combination)] + counts.values.map { StoredValue.integer(Int64(clamping: $0)) }
        }[...]
        while rows.count >= UsageStore.rowsAtOnce {
            try run(several, Arguments(rows.prefix(UsageStore.rowsAtOnce).flatMap { $0 }))
            rows = rows.dropFirst(UsageStore.rowsAtOnce)
        }
        for row in rows { try run(one, Arguments(row)) }
    }
}
