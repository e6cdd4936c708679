import Foundation

/// The cost of one fsync where the services keep their state.
struct SyncCost {
    /// Microseconds, the median.
    let microseconds: Double

    /// Appends a page to a file and syncs it, as a commit does with its journal, again and again.
    init(folder: URL, count: Int = 200) throws {
        let file = folder.appending(path: "sync-cost")
        let descriptor = open(file.path, O_CREAT | O_RDWR | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw BenchmarkFailure("cannot write \(file.path)") }
        defer {
            close(descriptor)
            unlink(file.path)
        }
        let page = [UInt8](repeating: 7, count: 4120)
        var costs: [Double] = []
        for _ in 0..<count {
            let start = ContinuousClock.now
            guard write(descriptor, page, page.count) == page.count, fdatasync(descriptor) == 0 else { throw BenchmarkFailure("fsync fails") }
            costs.append(start.duration(to: .now) / .microseconds(1))
        }
        microseconds = Spread(costs).median
    }
}
