internal import CoreMetrics
internal import Storage

/// A standby as its primary sees it.
package struct Standby: Sendable, Equatable {
    /// Its `application_name`.
    package let name: String
    /// `streaming`, `catchup`, `startup` or `stopping`; empty: the role may not see it.
    package let state: String
    /// `sync`, `quorum` or `potential` where `synchronous_standby_names` names it, else `async`; empty: the role may not see it.
    package let sync: String
    /// Octets of the primary's log that are not on its disk yet; `nil`: not known.
    package let lag: Int64?

    package init(name: String, state: String, sync: String, lag: Int64?) {
        (self.name, self.state, self.sync, self.lag) = (name, state, sync, lag)
    }

    /// True when it confirms commits, or would, and gets the log as it is written.
    package var isConfirming: Bool { state == "streaming" && ["sync", "quorum", "potential"].contains(sync) }

    /// True when the role lacks the right to see more than that it is connected.
    package var isHidden: Bool { state.isEmpty }

    /// The grant that lets a role see them.
    /// - Parameter role: As the settings have it.
    package static func grant(to role: String) -> String { "GRANT pg_read_all_stats TO \"\(role.replacing("\"", with: "\"\""))\"" }

    /// Name, state, sync and lag of each, by name. A program that copies the server's files is none.
    package static let query = """
        SELECT coalesce(application_name, ''), coalesce(state, ''), coalesce(sync_state, ''),
            CAST(pg_wal_lsn_diff(pg_current_wal_lsn(), flush_lsn) AS BIGINT)
        FROM pg_stat_replication WHERE state IS DISTINCT FROM 'backup' ORDER BY 1
        """
}

/// The names in `synchronous_standby_names`.
package struct StandbyNames: Sendable, Equatable {
    /// Without quotes; `*` stands for every name. Empty: commits wait for no standby.
    package let names: [String]

    /// - Parameter setting: For example `ANY 1 (db_a, "db-b")`, `FIRST 2 (a, b)`, `2 (a, b)` or `a, b` (postgresql.org/docs/current/runtime-config-replication.html).
    package init(_ setting: String) {
        var (names, name, isQuoted, wasQuoted): ([String], String, Bool, Bool) = ([], "", false, false)
        func plain(_ text: String, _ wasQuoted: Bool) -> String { wasQuoted ? text : text.filter { !$0.isWhitespace } }
        for character in setting {
            switch character {
            case "\"":
                // Two of them in quotes are one.
                if !isQuoted { name = wasQuoted ? name + "\"" : "" }
                (isQuoted, wasQuoted) = (!isQuoted, true)
            case _ where isQuoted: name.append(character)
            // The number before it says how many of those in it.
            case "(": (name, wasQuoted) = ("", false)
            case ",", ")":
                names.append(plain(name, wasQuoted))
                (name, wasQuoted) = ("", false)
            case _ where wasQuoted: break
            default: name.append(character)
            }
        }
        names.append(plain(name, wasQuoted))
        self.names = names.filter { !$0.isEmpty }
    }

    /// Names that none of the standbys has that confirm commits. The primary's own may be among them. PostgreSQL compares without regard to case.
    package func missing(in standbys: [Standby]) -> [String] {
        let there = Set(standbys.filter(\.isConfirming).map { $0.name.lowercased() })
        return names.filter { $0 != "*" && !there.contains($0.lowercased()) }
    }
}

/// The metrics of the standbys: those of one copy, which has the lease. Used by one thread.
struct StandbyGauges {
    static let lease = "watch standbys"
    private static let interval: Duration = .seconds(5)
    /// Names that are told.
    private static let most = 16

    private let store: String
    private let role: String
    /// The step that an operator should take so that they can be seen; `nil`: nothing.
    private(set) var advice: String?
    private var streaming: [String: Gauge] = [:]
    private var lags: [String: Gauge] = [:]
    private var next: ContinuousClock.Instant = .now

    /// - Parameters:
    ///   - store: Label of the metrics.
    ///   - role: The role of the connection.
    init(store: String, role: String) { (self.store, self.role) = (store, role) }

    /// Looks at them, unless it did lately. An engine that has no such tables has no standbys.
    /// - Parameter isMine: True when this copy has the lease.
    /// - Throws: `PostgresError` when the connection is lost.
    mutating func look(on connection: PostgresConnection, isMine: Bool) throws {
        guard isMine else { return forget() }
        guard .now >= next else { return }
        let outcomes = try connection.run(
            [
                PostgresConnection.Command("SELECT coalesce(current_setting('synchronous_standby_names', true), '')"),
                PostgresConnection.Command(Statement(Standby.query)),
            ], timeout: ServerHealth.trust)
        next = .now + Self.interval
        guard outcomes.count == 2, case .rows(let setting) = outcomes[0], case .rows(let rows) = outcomes[1] else { return clear() }
        let names = StandbyNames(try setting.first { $0.next() as String } ?? "")
        let standbys = try rows.all { Standby(name: $0.next(), state: $0.next(), sync: $0.next(), lag: $0.next()) }
        tell(standbys, names)
        let isHidden = standbys.contains(where: \.isHidden)
        advice = isHidden ? "the store's role may not see the standbys, so that none is missed: \(Standby.grant(to: role))" : nil
    }

    private mutating func tell(_ standbys: [Standby], _ names: StandbyNames) {
        let told = Self.told(standbys, names)
        Self.keep(&streaming, told.streaming) { [store] in
            Gauge(label: "boxoffice_storage_standby_streaming", dimensions: [("store", store), ("standby", $0)])
        }
        Self.keep(&lags, told.lags) { [store] in
            Gauge(label: "boxoffice_storage_standby_lag_bytes", dimensions: [("store", store), ("standby", $0)])
        }
    }

    /// - Returns: By name, in small letters: of each that commits wait for or are to, 1 where it streams and else 0; and of each that is there, the octets of the log that it
    ///   lacks. Where none may be seen, none is missing.
    static func told(_ standbys: [Standby], _ names: StandbyNames) -> (streaming: [String: Int64], lags: [String: Int64]) {
        let seen = standbys.filter { !$0.isHidden }
        var (streaming, lags): ([String: Int64], [String: Int64]) = ([:], [:])
        if seen.count == standbys.count { for name in names.missing(in: seen) { streaming[name.lowercased()] = 0 } }
        for standby in seen {
            let name = standby.name.lowercased()
            if standby.sync != "async" { streaming[name] = max(streaming[name] ?? 0, standby.isConfirming ? 1 : 0) }
            if let lag = standby.lag { lags[name] = max(lags[name] ?? 0, lag) }
        }
        return (streaming, lags)
    }

    private static func keep(_ gauges: inout [String: Gauge], _ values: [String: Int64], _ make: (String) -> Gauge) {
        let told = values.sorted { $0.key < $1.key }.prefix(most)
        for (name, value) in told {
            let gauge = gauges[name] ?? make(name)
            gauges[name] = gauge
            gauge.record(value)
        }
        for (name, gauge) in gauges where !told.contains(where: { $0.key == name }) {
            gauge.destroy()
            gauges[name] = nil
        }
    }

    /// Another copy tells of them, or nobody can.
    mutating func forget() {
        clear()
        next = .now
    }

    private mutating func clear() {
        for gauge in [Gauge](streaming.values) + lags.values { gauge.destroy() }
        (streaming, lags, advice) = ([:], [:], nil)
    }
}
