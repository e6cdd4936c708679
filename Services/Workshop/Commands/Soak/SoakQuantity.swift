/// The quantities that a soak watches, and their limits.
enum SoakQuantity: String, CaseIterable, Sendable {
    /// Memory that a process has for itself alone (`RssAnon` of proc(5)).
    case ownMemory
    case residentMemory
    case openFiles
    case threads
    /// The file of a store.
    case store
    /// A store's write-ahead log.
    case journal
    /// Pages of a store's file that no rows take.
    case freePages
    /// All files of a program's log.
    case log
    /// Entries of a cache that a process has in its memory.
    case cache

    enum Unit: String, Sendable { case bytes, count }

    var unit: Unit { [.openFiles, .threads, .cache].contains(self) ? .count : .bytes }

    /// The most that may come over the whole soak; `nil`: it may grow. Resident memory has pages that others share, and a store grows with the people
    /// who sign in.
    /// - Parameter level: The mean.
    func allowance(_ level: Double) -> Double? {
        switch self {
        case .ownMemory: max(8 * Self.mebibyte, level / 20)
        case .openFiles: max(16, level / 10)
        case .threads: max(4, level / 10)
        case .freePages: max(32 * Self.mebibyte, level / 2)
        case .residentMemory, .store, .journal, .log, .cache: nil
        }
    }

    /// The most that may come in an hour, however long the soak is; `nil`: there is no such limit. What comes without end is no less a leak for being slow:
    /// 2 MiB an hour are 336 MiB in a week.
    /// - Parameter level: The mean.
    func allowancePerHour(_ level: Double) -> Double? { self == .ownMemory ? max(2 * Self.mebibyte, level / 100) : nil }

    /// The bound that no sample may exceed; `nil`: there is no such bound.
    /// - Parameter logs: Bytes that all logs together may have.
    func bound(logs: Double) -> Double? {
        switch self {
        // Its own bound is half of it (decision 0084); the rest is for what is written while a reader is waited for.
        case .journal: 64 * Self.mebibyte
        case .log: logs
        default: nil
        }
    }

    private static let mebibyte = 1_048_576.0
}

/// The samples of one quantity of one process, store or log.
struct SoakSeries: Sendable {
    enum Verdict: String, Sendable {
        case steady
        /// More has come than the quantity is allowed, in all or in an hour, and it goes on.
        case grows
        /// A sample was above the bound.
        case overBound
        /// It may grow; the slope is told.
        case told
        /// There are too few samples, or it rose too fast for so short a time to say.
        case unknown
    }

    let quantity: SoakQuantity
    /// The name of the process, the store or the log.
    let name: String
    /// In the order of their times; those of the warm-up too.
    var points: [Growth.Point] = []
    var bound: Double?

    func measured(after warmUp: Double) -> [Growth.Point] { points.filter { $0.seconds >= warmUp } }

    /// - Parameter warmUp: Seconds whose samples say nothing about growth.
    func growth(after warmUp: Double) -> Growth? { Growth(measured(after: warmUp)) }

    func verdict(after warmUp: Double) -> Verdict {
        if let bound, points.contains(where: { $0.value > bound }) { return .overBound }
        guard let growth = growth(after: warmUp) else { return .unknown }
        guard let allowance = quantity.allowance(growth.level) else { return bound == nil ? .told : .steady }
        if growth.sureGrowth > allowance { return .grows }
        if let limit = quantity.allowancePerHour(growth.level), growth.surePerHour > limit {
            return growth.hours >= Self.leastHours ? .grows : .unknown
        }
        return .steady
    }

    /// A slope says something from then on. Before, one arena of the allocator makes one.
    private static let leastHours = 0.4
}
