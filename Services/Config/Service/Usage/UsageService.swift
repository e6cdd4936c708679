public import Catalogue
public import Clocks
public import ContractRuntime
public import Contracts
internal import CoreMetrics
internal import Faults
public import Logging
public import Storage

/// The operations of `boxoffice.config.v1.Usage`: takes in what services counted, and reports it.
public struct UsageService: Usage {
    /// Sums of one batch.
    static let mostSums = 1000
    /// Octets of a text.
    private static let longestText = 128
    private static let longestCopy = 64

    private let store: UsageStore
    private let reporter: UsageReporter
    private let limits: UsageSettings
    private let time: PacificTime
    private let catalogue: any CatalogueSource
    private let clock: any WallClock
    private let logger: Logger
    private let taken = Counter(label: "boxoffice_config_usage_sums_total")
    private let repeated = Counter(label: "boxoffice_config_usage_batches_repeated_total")
    private let forgotten = Counter(label: "boxoffice_config_usage_rows_forgotten_total")

    /// The system has no table of time zones.
    public struct TimeZoneError: Error, CustomStringConvertible {
        public var description: String { "the system does not know the time zone America/Los_Angeles" }
    }

    /// - Parameters:
    ///   - store: The store of the service, with `CatalogueStore.migrations`.
    ///   - catalogue: Tells programmers, proxies and names of applications.
    /// - Throws: `TimeZoneError`.
    public init(store: Store, limits: UsageSettings, catalogue: any CatalogueSource, clock: any WallClock, logger: Logger) throws(TimeZoneError) {
        guard let time = PacificTime() else { throw TimeZoneError() }
        self.store = UsageStore(store, limits: limits)
        self.limits = limits
        self.time = time
        self.catalogue = catalogue
        self.clock = clock
        self.logger = logger
        reporter = UsageReporter(store: self.store, limits: limits, time: time, catalogue: catalogue, clock: clock)
    }

    public func register(in registry: inout some MethodRegistry) { UsageMethods.register(self, in: &registry) }

    public func reportUsage(_ request: UsageBatch, context: CallContext) async throws -> UsageReceipt {
        try Self.check(request)
        let (catalogue, now) = (try catalogue.current(), clock.now())
        let latest = UInt64(clamping: now.seconds / 60) + 1
        let entries = request.sums.map { sum in
            // A clock that is ahead must not count in days to come.
            UsageStore.Entry(
                moment: time.moment(Timestamp(seconds: Int64(clamping: min(sum.minute, latest)) * 60)).minute,
                combination: UsageCombination(sum.dimensions ?? UsageDimensions(), dataCenter: request.dataCenter, in: catalogue),
                counts: sum.counts ?? UsageCounts())
        }
        if try await store.take(entries, copy: request.copyID, sequence: request.sequence, now: now) {
            taken.increment(by: entries.count)
        } else {
            repeated.increment()
        }
        return UsageReceipt()
    }

    public func queryUsage(_ request: UsageQuery, context: CallContext) async throws -> UsageReport { try await reporter.report(request) }

    private static func check(_ batch: UsageBatch) throws(Fault) {
        guard !batch.copyID.isEmpty, batch.copyID.utf8.count <= longestCopy, batch.sequence > 0 else {
            throw Fault(.invalidRequest, "A batch needs the id of its copy and a number.")
        }
        guard batch.sums.count <= mostSums else { throw Fault(.invalidRequest, "A batch has at most \(mostSums) sums.") }
        for sum in batch.sums {
            guard let dimensions = sum.dimensions else { continue }
            let texts = [
                dimensions.requestorID, dimensions.mvpdID, dimensions.channel, dimensions.resourceID, dimensions.device, dimensions.osFamily,
                dimensions.osType, dimensions.osVersion, dimensions.browserFamily, dimensions.browserVersion, dimensions.clientType,
                dimensions.applicationID, dimensions.customerApplication, dimensions.ssoType, dimensions.reason, dimensions.decisionType,
                dimensions.externalProvider, batch.dataCenter,
            ]
            guard texts.allSatisfy({ $0.utf8.count <= longestText }) else {
                throw Fault(.invalidRequest, "A text has more than \(longestText) octets.")
            }
        }
    }

    /// Removes what is kept no longer, once a minute until it is cancelled; the oldest detail goes first, and its hours and days stay.
    public func forgetOldSums() async {
        while !Task.isCancelled {
            do {
                try await forget()
            } catch {
                logger.warning("usage.not_forgotten", metadata: ["reason": "\(error)"])
            }
            try? await Task.sleep(for: .seconds(60))
        }
    }

    func forget() async throws(Fault) {
        let now = clock.now()
        func before(_ days: Int) -> Int64 { time.moment(now - .seconds(Int64(days) * 86_400)).minute }
        var rows = try await store.forget(.minute, before: before(limits.minuteDays))
        rows += try await store.forget(.hour, before: before(limits.hourDays))
        rows += try await store.forget(.day, before: before(limits.dayDays))
        rows += try await store.forgetCombinations(before: before(limits.dayDays), copiesBefore: now - .seconds(7 * 86_400))
        forgotten.increment(by: rows)
    }
}
