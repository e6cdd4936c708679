internal import Catalogue
internal import Clocks
internal import Contracts
internal import Faults
internal import Synchronization

/// Makes reports of the sums.
final class UsageReporter: Sendable {
    private let store: UsageStore
    private let limits: UsageSettings
    private let time: PacificTime
    private let catalogue: any CatalogueSource
    private let clock: any WallClock
    /// They never change; more of them are read when somebody asks.
    private let known = Mutex(Known())

    private struct Known {
        var combinations: [Int64: UsageCombination] = [:]
        var last: Int64 = 0
    }

    init(store: UsageStore, limits: UsageSettings, time: PacificTime, catalogue: any CatalogueSource, clock: any WallClock) {
        self.store = store
        self.limits = limits
        self.time = time
        self.catalogue = catalogue
        self.clock = clock
    }

    func report(_ query: UsageQuery) async throws(Fault) -> UsageReport {
        let plan = try UsagePlan(query, limits: limits, time: time, now: clock.now())
        let requestors = Set(texts: query.requestorIDs)
        let visible = try await combinations().filter { requestors.contains($0.value[.requestorID]) && plan.admits($0.value) }
        let sums = try await store.sums(
            of: plan.level, in: plan.moments, divisor: plan.divisor, groups: Self.groups(visible, plan), after: try ends(visible, plan))
        guard let sums else { throw Fault(.invalidRequest, "This is too much at once: ask for a shorter time.") }
        // Nobody else waits for the thread that it is written on.
        let rows = await Task.detached {
            var table = UsageTable(plan: plan)
            for (bucket, counts) in sums { if let combination = visible[bucket.combination] { table.add(counts, at: bucket.time, combination) } }
            return table.rows()
        }.value
        return UsageReport(
            dimensions: plan.dimensions.map(\.rawValue), metrics: plan.metrics.map(\.rawValue), rows: rows, start: plan.start?.text ?? "",
            end: plan.end?.text ?? "", limit: UInt32(clamping: plan.limit), drillDown: plan.drillDown.map(\.rawValue))
    }

    /// The last piece of time in which something may be of another programmer, who had the requestor's id; of combinations with such a time.
    private func ends(_ visible: [Int64: UsageCombination], _ plan: UsagePlan) throws(Fault) -> [Int64: Int64] {
        let catalogue = try catalogue.current()
        return visible.compactMapValues { combination in
            let since = catalogue.requestor(combination[.requestorID])?.sinceMilliseconds ?? 0
            return since > 0 ? time.moment(Timestamp(milliseconds: Int64(clamping: since))).minute / plan.level.unit : nil
        }
    }

    /// Each combination, and the first of those that no row of the report tells from it.
    private static func groups(_ visible: [Int64: UsageCombination], _ plan: UsagePlan) -> [Int64: Int64] {
        var firsts: [[OctetText]: Int64] = [:]
        // Some metrics are of one API alone.
        let shown = plan.dimensions.filter { !$0.isOfTime && $0 != .event } + [.api]
        return Dictionary(
            uniqueKeysWithValues: visible.map { id, combination in
                let values = shown.map { OctetText(combination[$0]) }
                let first = firsts[values] ?? id
                firsts[values] = first
                return (id, first)
            })
    }

    private func combinations() async throws(Fault) -> [Int64: UsageCombination] {
        let more = try await store.combinations(after: known.withLock { $0.last })
        return known.withLock { known in
            for (id, combination) in more {
                known.combinations[id] = combination
                known.last = max(known.last, id)
            }
            // Most of those that nothing has been counted for in years are gone from the store.
            if known.combinations.count > 2 * limits.combinations { known = Known() }
            return known.combinations
        }
    }
}

/// The rows of a report, as sums come in.
private struct UsageTable {
    let plan: UsagePlan
    private var counts: [Key: [UInt64]] = [:]

    init(plan: UsagePlan) { self.plan = plan }

    private struct Key: Hashable {
        let bucket: Int64
        /// The values of all dimensions but time.
        let values: [OctetText]
    }

    mutating func add(_ sum: UsageCounts, at time: Int64, _ combination: UsageCombination) {
        guard plan.isOfEvents else {
            let values = plan.dimensions.filter { !$0.isOfTime }.map { OctetText(combination[$0]) }
            add(plan.metrics.map { $0.value(of: sum, in: combination) }, to: Key(bucket: time, values: values))
            return
        }
        for event in UsageEventName.allCases where plan.admits(event) {
            let count = event.count(in: sum)
            guard count > 0 else { continue }
            let values = plan.dimensions.filter { !$0.isOfTime }.map { OctetText($0 == .event ? event.rawValue : combination[$0]) }
            add(plan.metrics.map { $0 == .count ? count : 0 }, to: Key(bucket: time, values: values))
        }
    }

    private mutating func add(_ counts: [UInt64], to key: Key) {
        guard let index = self.counts.index(forKey: key) else {
            self.counts[key] = counts
            return
        }
        for place in counts.indices { self.counts.values[index][place] &+= counts[place] }
    }

    /// In the order of their dimensions, at most as many as were asked for.
    func rows() -> [UsageRow] {
        let sorted = counts.sorted { one, other in
            if one.key.bucket != other.key.bucket { return one.key.bucket < other.key.bucket }
            return one.key.values.lexicographicallyPrecedes(other.key.values)
        }
        return sorted.prefix(plan.limit).map { key, counts in
            var others = key.values.makeIterator()
            let values = plan.dimensions.map { dimension in
                UsageDimension.ofTime.firstIndex(of: dimension).map { time(key.bucket, $0) } ?? others.next()?.text ?? ""
            }
            return UsageRow(values: values, counts: counts)
        }
    }

    /// The year, month and so on of a bucket, whose last digits are the finest of them.
    private func time(_ bucket: Int64, _ index: Int) -> String {
        var number = bucket
        for _ in index + 1..<max(plan.timeDepth, index + 1) { number /= 100 }
        return String(index == 0 ? number : number % 100)
    }
}

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
}
