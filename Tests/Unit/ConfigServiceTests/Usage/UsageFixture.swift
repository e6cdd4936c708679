import Catalogue
import Clocks
@testable import ConfigService
import ContractRuntime
import Contracts
import Doubles
import Foundation
import Logging
import ManualClocks
import Storage

/// The service for reports on a store of its own; its clock stands at 26 November 2026, 9:45 in Los Angeles.
final class UsageFixture: Sendable {
    /// 17:45 UTC.
    static let now = Timestamp(milliseconds: 1_795_715_100_000)
    static let minute = UInt64(now.seconds / 60)

    let clock = ManualClock(now)
    let store: Store
    let service: UsageService
    private let folder: String
    private let isOwner: Bool

    /// - Parameter other: Another copy of the service, whose store it has too.
    ///   - since: Since when the programmer of BRAVO has the id.
    init(limits: UsageSettings = UsageSettings(), beside other: UsageFixture? = nil, since: Timestamp = Timestamp(milliseconds: 0)) throws {
        folder = other?.folder ?? FileManager.default.temporaryDirectory.appending(path: "usage-\(UUID().uuidString)").path
        isOwner = other == nil
        store = try ConfigEngine.current.open(folder)
        let configuration = Configuration(
            version: 1,
            requestors: [
                Requestor(id: "ACME1", programmerID: "acme"), Requestor(id: "ACME2", programmerID: "acme"),
                Requestor(id: "BRAVO", programmerID: "bravo", sinceMilliseconds: UInt64(clamping: since.milliseconds)),
            ],
            mvpds: [Mvpd(id: "NorthCable"), Mvpd(id: "SmallTel", isProxied: true, proxyMvpdID: "Proxy")],
            applications: [Application(id: "acme-tv", name: "Acme TV", version: "2.1")])
        let silent = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        service = try UsageService(store: store, limits: limits, catalogue: FixedCatalogue(configuration), clock: clock, logger: silent)
    }

    deinit { if isOwner { try? FileManager.default.removeItem(atPath: folder) } }

    func push(_ sums: [UsageSum], copy: String = "copy-1", _ sequence: UInt64 = 1) async throws {
        _ = try await service.reportUsage(UsageBatch(copyID: copy, sequence: sequence, dataCenter: "west", sums: sums), context: CallContext())
    }

    func report(
        _ path: String, of requestors: [String] = ["ACME1", "ACME2"], filters: [UsageFilter] = [], start: String = "", end: String = "",
        metrics: [String] = [], limit: UInt32 = 0
    ) async throws -> UsageReport {
        try await service.queryUsage(
            UsageQuery(
                requestorIDs: requestors, path: path.split(separator: "/").map(String.init), filters: filters, start: start, end: end,
                metrics: metrics,
                limit: limit), context: CallContext())
    }

    /// A sum of the present minute, or of so many before.
    static func sum(
        _ counts: UsageCounts, requestor: String = "ACME1", mvpd: String = "NorthCable", resource: String = "", api: UsageApi = .restV1,
        reason: String = "", before: UInt64 = 0
    ) -> UsageSum {
        UsageSum(
            minute: minute - before,
            dimensions: UsageDimensions(
                requestorID: requestor, mvpdID: mvpd, channel: resource, resourceID: resource, platform: .roku, applicationID: "acme-tv", api: api,
                reason: reason), counts: counts)
    }
}

extension UsageReport {
    /// Rows as texts: dimensions, a colon, counts.
    var lines: [String] { rows.map { "\($0.values.joined(separator: " ")): \($0.counts.map(String.init).joined(separator: " "))" } }
}
