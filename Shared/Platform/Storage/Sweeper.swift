public import Clocks
internal import CoreMetrics
public import Faults
internal import GRDB
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

    /// Sweeps each table at its interval until the task is cancelled.
    public func run() async {
        await withDiscardingTaskGroup { group in
            for sweep in sweeps {
                group.addTask { await repeatedly(sweep) }
            }
            group.addTask { await watchSize() }
        }
    }

    /// One round: removes all rows of the table that are past their time.
    /// - Returns: How many rows were removed.
    /// - Throws: `Fault` of the store; what earlier batches removed stays removed.
    @discardableResult
    public func sweep(_ sweep: Sweep) async throws(Fault) -> Int {
        let latest = clock.now() - sweep.grace
        let table = sweep.table.quotedDatabaseIdentifier
        let column = sweep.expiryColumn.quotedDatabaseIdentifier
        let sql = "DELETE FROM \(table) WHERE rowid IN (SELECT rowid FROM \(table) WHERE \(column) <= ? LIMIT ?)"
        var total = 0
        while !Task.isCancelled {
            let removed = try await store.write { database in
                try database.cachedStatement(sql: sql).execute(arguments: [latest, sweep.batchSize])
                return database.changesCount
            }
            total += removed
            Counter(label: "boxoffice_storage_swept_rows_total", dimensions: [("store", name), ("table", sweep.table)]).increment(by: removed)
            if removed < sweep.batchSize { break }
        }
        return total
    }

    /// How often the store's size is looked at.
    private static let sizeInterval: Duration = .seconds(30)
    /// From this part of its limit on the log warns.
    private static let warningShare = 0.8

    private func watchSize() async {
        while !Task.isCancelled {
            if let size = try? await store.size(), let limit = size.limit, Double(size.bytes) >= Self.warningShare * Double(limit) {
                logger.warning(
                    "storage.nearly_full",
                    metadata: ["file": "\(store.file)", "bytes": "\(size.bytes)", "limit_bytes": "\(limit)", "advice": "raise limits.storeMebibytes"])
            }
            try? await Task.sleep(for: Self.sizeInterval)
        }
    }

    private func repeatedly(_ sweep: Sweep) async {
        while !Task.isCancelled {
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
