package import CoreMetrics

/// What a store reports, all labelled with its name.
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
    package let limitBytes: Gauge
    private let free: Gauge
    private let journal: Gauge

    package init(store: String) {
        self.store = store
        let labels = [("store", store)]
        commits = Counter(label: "boxoffice_storage_commits_total", dimensions: labels)
        failedCommits = Counter(label: "boxoffice_storage_failed_commits_total", dimensions: labels)
        batchSize = Recorder(label: "boxoffice_storage_batch_size_writes", dimensions: labels, aggregate: true)
        queueDepth = Gauge(label: "boxoffice_storage_queue_depth_writes", dimensions: labels)
        commitSeconds = Timer(label: "boxoffice_storage_commit_seconds", dimensions: labels)
        bytes = Gauge(label: "boxoffice_storage_bytes", dimensions: labels)
        limitBytes = Gauge(label: "boxoffice_storage_limit_bytes", dimensions: labels)
        free = Gauge(label: "boxoffice_storage_free_bytes", dimensions: labels)
        journal = Gauge(label: "boxoffice_storage_journal_bytes", dimensions: labels)
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

    /// - Parameter overhead: Bytes.
    func record(_ overhead: (free: Int, journal: Int)) {
        free.record(overhead.free)
        journal.record(overhead.journal)
    }
}
