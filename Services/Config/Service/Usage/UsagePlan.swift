internal import Clocks
internal import Contracts
internal import Faults
internal import Storage

/// The plan of a query, once it is understood.
struct UsagePlan: Sendable {
    /// In the order of the output: those of the path, then those that were asked for by name.
    let dimensions: [UsageDimension]
    let metrics: [UsageMetric]
    let drillDown: [UsageDimension]
    let level: UsageStore.Level
    /// The moments of the level.
    let moments: Range<Int64>
    /// Makes of a moment of the level one of the path's finest time.
    let divisor: Int64
    /// The number of dimensions of time that the path has; 0 to 5.
    let timeDepth: Int
    let limit: Int
    /// As they were taken, for the link to the report itself.
    let start: PacificTime.LocalTime?
    let end: PacificTime.LocalTime?
    private let conditions: [Condition]

    private struct Condition: Sendable {
        let dimension: UsageDimension
        let values: Set<OctetText>
        let isExcluding: Bool

        func admits(_ value: String) -> Bool { values.contains(value) != isExcluding }
    }

    static let usualLimit = 1000
    static let longestLimit = 10_000
    /// Filters and their values.
    private static let mostValues = 200

    /// - Parameter now: Where a report ends that names no other end.
    /// - Throws: `not_found`, `invalid_request`.
    init(_ query: UsageQuery, limits: UsageSettings, time: PacificTime, now: Timestamp) throws(Fault) {
        let path = try Self.path(query.path)
        guard let next = UsageTree.shared.next(after: path) else { throw Self.noSuchPath }
        var dimensions = path
        var conditions: [Condition] = []
        guard query.filters.reduce(0, { $0 + 1 + $1.values.count }) <= Self.mostValues else { throw Self.bad("There are too many filters.") }
        for filter in query.filters {
            let dimension = try Self.filtered(filter.dimension)
            if filter.values.isEmpty {
                if !dimensions.contains(dimension) { dimensions.append(dimension) }
            } else {
                conditions.append(Condition(dimension: dimension, values: Set(texts: filter.values), isExcluding: filter.isExcluding))
            }
        }
        self.dimensions = dimensions
        self.conditions = conditions
        drillDown = next
        metrics = try Self.metrics(query.metrics, dimensions: dimensions, isOfMvpds: path.first == .mvpd)
        timeDepth = path.count { $0.isOfTime }
        guard query.limit <= Self.longestLimit else { throw Self.bad("Parameter 'limit' must be from 1 to \(Self.longestLimit).") }
        limit = query.limit == 0 ? Self.usualLimit : Int(query.limit)
        let present = time.moment(now)
        start = try Self.start(query.start, depth: timeDepth, time, now)
        end = query.end.isEmpty ? (timeDepth == 0 && start == nil ? nil : present) : try Self.moment(query.end, "end", time)
        let window = Window(start: start, end: query.end.isEmpty ? nil : end, depth: timeDepth, present: present)
        (level, moments) = window.level(limits, time, now)
        divisor = Self.divisor(level, depth: timeDepth)
    }

    /// True when a report counts a combination; the event is no part of it.
    func admits(_ combination: UsageCombination) -> Bool {
        conditions.allSatisfy { $0.dimension == .event || $0.admits(combination[$0.dimension]) }
    }

    func admits(_ event: UsageEventName) -> Bool { conditions.allSatisfy { $0.dimension != .event || $0.admits(event.rawValue) } }

    var isOfEvents: Bool { dimensions.contains(.event) }

    // MARK: Names

    private static let noSuchPath = Fault(.notFound, "There is no report of these dimensions in this order.")

    private static func bad(_ text: String) -> Fault { Fault(.invalidRequest, text) }

    private static func path(_ names: [String]) throws(Fault) -> [UsageDimension] {
        var path: [UsageDimension] = []
        for name in names {
            guard let dimension = UsageDimension(rawValue: name) else { throw noSuchPath }
            path.append(dimension)
        }
        return path
    }

    private static func filtered(_ name: String) throws(Fault) -> UsageDimension {
        guard let dimension = UsageDimension(rawValue: name) else { throw bad("There is no dimension '\(name.prefix(64))'.") }
        guard !dimension.isOfTime else { throw bad("'\(name)' is a dimension of time: use 'start' and 'end'.") }
        return dimension
    }

    private static func metrics(_ names: [String], dimensions: [UsageDimension], isOfMvpds: Bool) throws(Fault) -> [UsageMetric] {
        let isOfEvents = dimensions.contains(.event)
        let offered = isOfEvents ? [.count] : isOfMvpds ? UsageMetric.ofMvpds : UsageMetric.totals
        guard !names.isEmpty else { return offered }
        var metrics: [UsageMetric] = []
        for name in names {
            if name == "unique-accounts" || name == "unique-sessions" { throw bad("'\(name)' is not counted here.") }
            guard let metric = UsageMetric(rawValue: name) else { throw bad("There is no metric '\(name.prefix(64))'.") }
            guard offered.contains(metric) else {
                throw bad(metric == .count ? "'count' needs the dimension 'event'." : "This report does not have the metric '\(name)'.")
            }
            if !metrics.contains(metric) { metrics.append(metric) }
        }
        return metrics
    }

    // MARK: Time

    private static func moment(_ text: String, _ name: String, _ time: PacificTime) throws(Fault) -> PacificTime.LocalTime {
        guard let moment = time.moment(text) else {
            throw bad("Parameter '\(name)' must be a time of ISO 8601 or its beginning, such as 2026-11-26T09:45, or milliseconds since 1970.")
        }
        return moment
    }

    /// The start of a report that names none: enough for one look.
    private static func start(_ text: String, depth: Int, _ time: PacificTime, _ now: Timestamp) throws(Fault) -> PacificTime.LocalTime? {
        guard text.isEmpty else { return try moment(text, "start", time) }
        let day = 86_400
        let seconds: [Int] = [0, 3 * 366 * day, 366 * day, 30 * day, day, 3600]
        guard depth > 0 else { return nil }
        let start = time.moment(now - .seconds(seconds[depth])).minute
        // From the beginning of that month, day and so on.
        let unit: [Int64] = [1, 100_000_000, 1_000_000, 10_000, 100, 1]
        return PacificTime.LocalTime(minute: whole(start / unit[depth], depth: depth), second: 0)
    }

    /// The first minute of a year, month, day, hour.
    private static func whole(_ number: Int64, depth: Int) -> Int64 {
        switch depth {
        case 1: number * 100_000_000 + 1_010_000
        case 2: number * 1_000_000 + 10_000
        case 3: number * 10_000
        case 4: number * 100
        default: number
        }
    }

    private static func divisor(_ level: UsageStore.Level, depth: Int) -> Int64 {
        let minutes: [Int64] = [1_000_000_000_000, 100_000_000, 1_000_000, 10_000, 100, 1]
        return max(1, minutes[depth] / level.unit)
    }

    /// From when to when, and what has to be read for it.
    private struct Window {
        let start: PacificTime.LocalTime?
        /// `nil`: up to what was counted last.
        let end: PacificTime.LocalTime?
        let depth: Int
        let present: PacificTime.LocalTime

        /// The coarsest sums that tell the window exactly and are still kept. Older events are told by the day or hour that they fell into.
        func level(_ limits: UsageSettings, _ time: PacificTime, _ now: Timestamp) -> (UsageStore.Level, Range<Int64>) {
            var level: UsageStore.Level = depth == 5 ? .minute : depth == 4 ? .hour : .day
            let start = start?.minute ?? 0
            // Future events are in no sum.
            let end = end.flatMap { $0.minute <= present.minute ? $0.minute : nil }
            for finer in [UsageStore.Level.hour, .minute] where finer.unit < level.unit {
                let isExact = start % level.unit == 0 && (end ?? 0) % level.unit == 0
                let days = finer == .hour ? limits.hourDays : limits.minuteDays
                let isKept = start >= time.moment(now - .seconds(Int64(days) * 86_400)).minute
                if !isExact, isKept { level = finer }
            }
            let first = start / level.unit
            let last = end.map { ($0 + level.unit - 1) / level.unit } ?? .max
            return (level, first..<max(first, last))
        }
    }
}

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
    ///   - combinations: The combinations to find.
    ///   - most: The number that are told apart.
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

    /// - Parameter day: The day that it is counted on.
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
