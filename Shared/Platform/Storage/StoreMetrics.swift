package import CoreMetrics

/// The metrics of a store, all labelled with its name.
package struct StoreMetrics: Sendable {
    /// The store's name.
    let store: String
    package let commits: Counter
    package let failedCommits: Counter
    package let batchSize: Recorder
    package let queueDepth: Gauge
    package let commitSeconds: Timer
    package let refused: Counter
    package let retries: Counter
    package let bytes: Gauge

    package init(store: String) {
        self.store = store
        let labels = [("store", store)]
        commits = Counter(label: "boxoffice_storage_commits_total", dimensions: labels)
        failedCommits = Counter(label: "boxoffice_storage_failed_commits_total", dimensions: labels)
        batchSize = Recorder(label: "boxoffice_storage_batch_size_writes", dimensions: labels, aggregate: true)
        queueDepth = Gauge(label: "boxoffice_storage_queue_depth_writes", dimensions: labels)
        commitSeconds = Timer(label: "boxoffice_storage_commit_seconds", dimensions: labels)
        bytes = Gauge(label: "boxoffice_storage_bytes", dimensions: labels)
        retries = Counter(label: "boxoffice_storage_retries_total", dimensions: labels)
        refused = Counter(label: "boxoffice_storage_refused_total", dimensions: labels)
    }

    /// Tells how many entries a cache may have.
    /// - Returns: For how many it has.
    func cache(_ name: String, limit: Int) -> Gauge {
        let labels = [("store", store), ("cache", name)]
        Gauge(label: "boxoffice_storage_cache_limit_entries", dimensions: labels).record(limit)
        return Gauge(label: "boxoffice_storage_cache_entries", dimensions: labels)
    }

    // A store that has none of these has no series of them: a zero would be a fact.

    /// - Parameter limit: Bytes.
    func record(limit: Int) { gauge("boxoffice_storage_limit_bytes").record(limit) }

    /// - Parameter overhead: Bytes.
    func record(_ overhead: (free: Int, journal: Int)) {
        gauge("boxoffice_storage_free_bytes").record(overhead.free)
        gauge("boxoffice_storage_journal_bytes").record(overhead.journal)
    }

    func record(_ disk: DiskRoom) {
        gauge("boxoffice_storage_disk_free_bytes").record(disk.free)
        gauge("boxoffice_storage_disk_bytes").record(disk.size)
    }

    private func gauge(_ label: String) -> Gauge { Gauge(label: label, dimensions: [("store", store)]) }
}
