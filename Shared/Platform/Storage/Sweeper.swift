public import Clocks
internal import CoreMetrics
public import Faults
public import Logging

/// Removes expired rows of a store, a batch at a time, so that callers' writes go between.
public struct Sweeper: Sendable {
    private let store: Store
    private let name: String
    private let sweeps: [Sweep]
    private let clock: any WallClock
    private let logger: Logger

    /// - Parameters:
    ///   - name: Label of the metrics, as the store's.
    ///   - sweeps: One per table that expires.
    public init(store: Store, name: String, sweeps: [Sweep], clock: any WallClock, logger: Logger) {
        self.store = store
        self.name = name
        self.sweeps = sweeps
        self.clock = clock
        self.logger = logger
    }

    /// Sweeps each table at its interval until the task is cancelled; of copies on several hosts one does.
    public func run() async {
        await withDiscardingTaskGroup { group in
            for sweep in sweeps {
                group.addTask { await repeatedly(sweep) }
            }
            group.addTask { await watchSize() }
        }
    }

    /// One round: removes all rows of the table that are past their time, and brings ends that are too far from now to where they may be.
    /// - Returns: How many rows were removed.
    /// - Throws: `Fault` of the store; what earlier batches changed stays changed.
    @discardableResult
    public func sweep(_ sweep: Sweep) async throws(Fault) -> Int {
        try await shorten(sweep)
        let latest = clock.now() - sweep.grace
        let statement = sweep.statement
        var total = 0
        while !Task.isCancelled {
            let removed = try await store.write { try $0.run(statement, [latest, sweep.batchSize]) }
            total += removed
            Counter(label: "boxoffice_storage_swept_rows_total", dimensions: [("store", name), ("table", sweep.table)]).increment(by: removed)
            if removed < sweep.batchSize { break }
        }
        return total
    }

    private func shorten(_ sweep: Sweep) async throws(Fault) {
        guard let farthest = sweep.farthest else { return }
        let statement = sweep.shortening(farthest)
        let latest = clock.now() + farthest.span
        while !Task.isCancelled {
            let changed = try await store.write { try $0.run(statement, [latest, sweep.batchSize]) }
            if changed < sweep.batchSize { break }
        }
    }

    /// The store's size is looked at this often.
    private static let sizeInterval: Duration = .seconds(30)
    /// From this part of its limit on the log warns.
    private static let warningShare = 0.8

    private func watchSize() async {
        while !Task.isCancelled {
            if let size = try? await store.size(), let limit = size.limit, Double(size.bytes) >= Self.warningShare * Double(limit) {
                logger.warning(
                    "storage.nearly_full",
                    metadata: [
                        "file": "\(store.place)", "bytes": "\(size.bytes)", "limit_bytes": "\(limit)", "advice": "raise limits.storeMebibytes",
                    ])
            }
            try? await Task.sleep(for: Self.sizeInterval)
        }
    }

    private func repeatedly(_ sweep: Sweep) async {
        while !Task.isCancelled {
            guard await store.lease("sweep \(sweep.table)") != nil else {
                // Another copy does it. When that one ends, somebody else goes on at the next round.
                try? await Task.sleep(for: sweep.interval)
                continue
            }
            do throws(Fault) {
                let removed = try await self.sweep(sweep)
                if removed > 0 { logger.debug("storage.swept", metadata: ["table": "\(sweep.table)", "rows": "\(removed)"]) }
            } catch {
                logger.warning("storage.sweep_failed", metadata: ["table": "\(sweep.table)", "error": "\(error)"])
            }
            try? await Task.sleep(for: sweep.interval)
        }
    }
}

extension Sweep {
    private static func quoted(_ name: String) -> String { "\"\(name)\"" }

    /// With the last moment that has passed and the size of a batch.
    var statement: Statement { Statement("DELETE FROM \(Self.quoted(table)) WHERE \(rows("<= ?"))") }

    /// With the latest end and the size of a batch.
    func shortening(_ limit: Limit) -> Statement {
        let condition = limit.rows.isEmpty ? "> ?1" : "> ?1 AND (\(limit.rows))"
        return Statement("UPDATE \(Self.quoted(table)) SET \(Self.quoted(expiryColumn)) = ?1 WHERE \(rows(condition, limit: "?2"))")
    }

    /// The rows of one batch.
    private func rows(_ condition: String, limit: String = "?") -> String {
        let key = key.map(Self.quoted).joined(separator: ", ")
        let row = self.key.count == 1 ? key : "(\(key))"
        return "\(row) IN (SELECT \(key) FROM \(Self.quoted(table)) WHERE \(Self.quoted(expiryColumn)) \(condition) LIMIT \(limit))"
    }
}
