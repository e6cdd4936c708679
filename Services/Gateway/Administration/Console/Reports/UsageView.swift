internal import Contracts
internal import Faults
internal import GatewayEdge

/// The selection of usage to show: period, channel, MVPD, and the dimension that splits it.
struct UsageView: Sendable {
    /// How long, and in which steps.
    enum Period: String, CaseIterable, Sendable {
        case day
        case month
        case year

        var label: String {
            switch self {
            case .day: "Last 24 hours"
            case .month: "Last 30 days"
            case .year: "Last 12 months"
            }
        }

        /// The heading of a step.
        var column: String {
            switch self {
            case .day: "Hour"
            case .month: "Day"
            case .year: "Month"
            }
        }

        /// Dimensions of time of a report from which these steps are made in UTC: config counts days of another zone.
        var path: [String] { self == .year ? Self.byDay : Self.byDay + ["hour"] }

        static let byDay = ["year", "month", "day"]
    }

    enum Split: String, CaseIterable, Sendable {
        case mvpd
        case channel = "requestor-id"
        case platform

        var name: String {
            switch self {
            case .mvpd: "MVPD"
            case .channel: "Channel"
            case .platform: "Platform"
            }
        }
    }

    let period: Period
    let split: Split
    let channel: String
    let mvpd: String
    /// Whole hours that the zone is ahead of UTC in which hours are told.
    let zone: Int

    /// From the west of Alaska to the Line Islands.
    private static let zones = -12...14

    /// - Throws: `invalid_request` for a zone that is none.
    init(_ exchange: Exchange) throws {
        period = try exchange.value("period").flatMap(Period.init) ?? .month
        split = try exchange.value("by").flatMap(Split.init) ?? .mvpd
        channel = try exchange.value("requestor") ?? ""
        mvpd = (try exchange.value("mvpd") ?? "").trimmed
        let text = try exchange.value("zone") ?? ""
        guard let zone = text.isEmpty ? 0 : Int(text), Self.zones.contains(zone) else {
            let range = "from \(Self.zones.lowerBound) to \(Self.zones.upperBound)"
            throw Fault(.invalidRequest, "Parameter 'zone' must be whole hours ahead of UTC, \(range).")
        }
        self.zone = zone
    }

    func path(isCoarse: Bool) -> [String] { isCoarse ? Period.byDay : period.path }

    /// - Parameters:
    ///   - start: As `UsageQuery` has it; so the end, where it is not now.
    ///   - dimension: One more that splits the counts.
    func query(
        _ channels: [String], _ path: [String], from start: String, until end: String = "", by dimension: UsageFilter? = nil
    ) -> UsageQuery {
        let own = mvpd.isEmpty ? [] : [UsageFilter(dimension: "mvpd", values: [mvpd])]
        return UsageQuery(
            requestorIDs: channels, path: path, filters: own + (dimension.map { [$0] } ?? []), start: start, end: end, metrics: UsageSums.metrics,
            limit: 10_000)
    }

    var content: [String: Any] {
        [
            "mvpd": mvpd,
            "periods": Period.allCases.map { Self.option($0.rawValue, $0.label, $0 == period) },
            "splits": Split.allCases.map { Self.option($0.rawValue, $0.name, $0 == split) },
            "zones": Self.zones.map { Self.option("\($0)", UsageWindow.name($0), $0 == zone) },
        ]
    }

    private static func option(_ value: String, _ label: String, _ isChosen: Bool) -> [String: Any] {
        ["optionValue": value, "optionLabel": label, "isOption": isChosen]
    }
}
