internal import Contracts
internal import GatewayEdge

/// The selection of usage to show: period, channel, MVPD, and the dimension that splits it.
struct UsageView {
    /// How long, and in which steps.
    enum Period: String, CaseIterable {
        case day
        case month
        case year

        var label: String {
            switch self {
            case .day: "Last day, by hour"
            case .month: "Last 30 days, by day"
            case .year: "Last 12 months, by month"
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

        /// Dimensions of time of a report in these steps.
        var path: [String] {
            switch self {
            case .day: ["year", "month", "day", "hour"]
            case .month: ["year", "month", "day"]
            case .year: ["year", "month"]
            }
        }
    }

    enum Split: String, CaseIterable {
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

    init(_ exchange: Exchange) throws {
        period = try exchange.value("period").flatMap(Period.init) ?? .month
        split = try exchange.value("by").flatMap(Split.init) ?? .mvpd
        channel = try exchange.value("requestor") ?? ""
        mvpd = (try exchange.value("mvpd") ?? "").trimmed
    }

    /// Step by step.
    func series(of channels: [String]) -> UsageQuery {
        UsageQuery(requestorIDs: channels, path: period.path, filters: filters(), metrics: UsageSeries.metrics, limit: 10_000)
    }

    /// The same time, by MVPD, channel or platform.
    /// - Parameter start: The start of the report by steps.
    func split(of channels: [String], from start: String) -> UsageQuery {
        UsageQuery(
            requestorIDs: channels, path: ["year"], filters: filters() + [UsageFilter(dimension: split.rawValue)], start: start,
            metrics: UsageSeries.metrics, limit: 10_000)
    }

    private func filters() -> [UsageFilter] { mvpd.isEmpty ? [] : [UsageFilter(dimension: "mvpd", values: [mvpd])] }

    var content: [String: Any] {
        [
            "mvpd": mvpd, "periodColumn": period.column,
            "periods": Period.allCases.map {
                ["optionValue": $0.rawValue, "optionLabel": $0.label, "isOption": $0 == period] as [String: Any]
            },
            "splits": Split.allCases.map {
                ["optionValue": $0.rawValue, "optionLabel": $0.name, "isOption": $0 == split] as [String: Any]
            },
        ]
    }
}
