internal import Clocks
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// Counts step by step, with the steps in which nothing happened.
struct UsageSeries {
    static let metrics = [
        "authn-attempts", "authn-successful", "authn-failed", "authz-attempts", "authz-successful", "authz-failed", "authz-latency", "media-tokens",
    ]
    /// Titles of the table's cells.
    static let columns = [
        "Sign-ins begun", "Signed in", "Failed", "Sign-in rate", "Decisions asked", "Permitted", "Denied", "Permit rate", "Latency (ms)", "Plays",
    ]

    struct Counts {
        private(set) var begun: UInt64 = 0
        private(set) var signedIn: UInt64 = 0
        private(set) var failed: UInt64 = 0
        private(set) var asked: UInt64 = 0
        private(set) var permitted: UInt64 = 0
        private(set) var denied: UInt64 = 0
        /// All together.
        private(set) var milliseconds: UInt64 = 0
        private(set) var plays: UInt64 = 0

        /// - Parameter metrics: Names, in the order of the counts.
        mutating func add(_ counts: [UInt64], _ metrics: [String]) {
            for (metric, count) in zip(metrics, counts) {
                switch metric {
                case "authn-attempts": begun &+= count
                case "authn-successful": signedIn &+= count
                case "authn-failed": failed &+= count
                case "authz-attempts": asked &+= count
                case "authz-successful": permitted &+= count
                case "authz-failed": denied &+= count
                case "authz-latency": milliseconds &+= count
                case "media-tokens": plays &+= count
                default: break
                }
            }
        }

        /// The average time of a decision; 0 without any.
        var latency: UInt64 { asked == 0 ? 0 : milliseconds / asked }
        /// Percent; `nil` where nothing was begun.
        var signInRate: UInt64? { Self.rate(signedIn, of: begun) }
        var permitRate: UInt64? { Self.rate(permitted, of: asked) }

        /// Counts are another service's, and may be any number.
        private static func rate(_ part: UInt64, of whole: UInt64) -> UInt64? {
            if whole == 0 { return nil }
            if part >= whole { return 100 }
            let (high, low) = part.multipliedFullWidth(by: 100)
            return whole.dividingFullWidth((high, low)).quotient
        }
    }

    struct Row {
        let label: String
        var counts: Counts
    }

    /// Steps of a page; a report of a stranger's service has no more either.
    private static let most = 400

    private(set) var rows: [Row] = []
    private(set) var total = Counts()

    var isEmpty: Bool { rows.isEmpty }

    init(_ report: UsageReport, _ period: UsageView.Period) {
        let steps = report.rows.compactMap { row in Self.step(row.values, period).map { ($0, row.counts) } }
        guard let first = steps.map(\.0).min(), let last = steps.map(\.0).max(), last - first < Self.most else { return }
        rows = (first...last).map { Row(label: Self.label($0, period), counts: Counts()) }
        for (step, counts) in steps {
            rows[step - first].counts.add(counts, report.metrics)
            total.add(counts, report.metrics)
        }
    }

    static func cells(_ counts: Counts) -> [String] {
        [
            "\(counts.begun)", "\(counts.signedIn)", "\(counts.failed)", counts.signInRate.map { "\($0) %" } ?? "–", "\(counts.asked)",
            "\(counts.permitted)", "\(counts.denied)", counts.permitRate.map { "\($0) %" } ?? "–", counts.asked == 0 ? "–" : "\(counts.latency)",
            "\(counts.plays)",
        ]
    }

    /// Hours, days or months since some beginning.
    private static func step(_ values: [String], _ period: UsageView.Period) -> Int? {
        let numbers = values.compactMap { Int($0) }
        guard let year = numbers.first, (1...9999).contains(year) else { return nil }
        switch period {
        case .year: return numbers.count == 2 && (1...12).contains(numbers[1]) ? year * 12 + numbers[1] - 1 : nil
        case .month: return numbers.count == 3 ? CivilDate(year: year, month: numbers[1], day: numbers[2])?.daysSince1970 : nil
        case .day:
            guard numbers.count == 4, (0...23).contains(numbers[3]), let date = CivilDate(year: year, month: numbers[1], day: numbers[2])
            else { return nil }
            return date.daysSince1970 * 24 + numbers[3]
        }
    }

    private static func label(_ step: Int, _ period: UsageView.Period) -> String {
        switch period {
        case .year: return "\(step / 12)-\(DisplayedTime.two(step % 12 + 1))"
        case .month: return day(step)
        case .day: return "\(day(step / 24)) \(DisplayedTime.two(step % 24)):00"
        }
    }

    private static func day(_ days: Int) -> String {
        let date = CivilDate(daysSince1970: days)
        return "\(date.year)-\(DisplayedTime.two(date.month))-\(DisplayedTime.two(date.day))"
    }
}

/// Shows how often people signed in, what MVPDs decided, how much was played (dashboard §6).
struct UsagePages: Sendable {
    /// Rows of the table by MVPD, channel or platform.
    private static let most = 100

    let console: Console

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let view = try UsageView(exchange)
        let channels = try ConsoleScope(catalogue: console.dependencies.catalogue).channels(of: visitor.administrator)
        let asked = view.channel.isEmpty ? channels : channels.filter { $0.id == view.channel }
        // A channel that is not the administrator's is as good as absent (dashboard #40).
        guard !asked.isEmpty || channels.isEmpty else { throw Fault(.notFound, "There is no such channel.") }
        var content = view.content
        content["channels"] = ConsoleScope.choices(channels, chosen: [view.channel])
        content["usageAddress"] = ConsolePlace.usage.address
        content["reportsAddress"] = Console.address("reports", "authn-ttl")
        guard !asked.isEmpty else { return await page(content, visitor, exchange) }
        let report = try await console.dependencies.usage.queryUsage(view.series(of: asked.map(\.id)), context: exchange.call)
        let series = UsageSeries(report, view.period)
        if try exchange.value("format") == "csv" { return Self.csv(series, view) }
        let split = try await console.dependencies.usage.queryUsage(
            view.split(of: asked.map(\.id), from: report.start), context: exchange.call)
        content["csvAddress"] = ConsolePlace.usage.address + "?" + (exchange.query.isEmpty ? "" : exchange.query + "&") + "format=csv"
        if series.isEmpty { content["nothing"] = true } else { content["usage"] = Self.usage(series, split, view) }
        return await page(content, visitor, exchange)
    }

    private func page(_ content: [String: Any], _ visitor: Visitor, _ exchange: Exchange) async -> Response {
        await console.page("usage", "Usage", in: .usage, content, for: visitor, exchange)
    }

    private static func usage(_ series: UsageSeries, _ split: UsageReport, _ view: UsageView) -> [String: Any] {
        [
            "charts": UsageChart.all.map { $0.content(series) }, "columns": UsageSeries.columns,
            "rows": series.rows.map { ["period": $0.label, "cells": UsageSeries.cells($0.counts)] as [String: Any] },
            "total": UsageSeries.cells(series.total), "splitName": view.split.name, "splitRows": splitRows(split),
        ]
    }

    /// The years of the window put together, those with most sign-ins and plays first.
    private static func splitRows(_ report: UsageReport) -> [[String: Any]] {
        var sums: [OctetText: (name: String, counts: UsageSeries.Counts)] = [:]
        for row in report.rows {
            let name = row.values.last ?? ""
            sums[OctetText(name), default: (name, UsageSeries.Counts())].counts.add(row.counts, report.metrics)
        }
        let sorted = sums.values.sorted {
            ($1.counts.signedIn + $1.counts.plays, $0.name) < ($0.counts.signedIn + $0.counts.plays, $1.name)
        }
        return sorted.prefix(most).map { ["splitValue": $0.name.isEmpty ? "–" : $0.name, "cells": UsageSeries.cells($0.counts)] }
    }

    private static func csv(_ series: UsageSeries, _ view: UsageView) -> Response {
        var table = CommaSeparatedTable()
        table.append([view.period.column] + UsageSeries.columns)
        for row in series.rows { table.append([row.label] + UsageSeries.cells(row.counts)) }
        var response = Response(text: table.text, type: "text/csv; charset=utf-8; header=present", cacheControl: "no-store")
        response.headers[.contentDisposition] = "attachment; filename=\"usage-\(view.period.rawValue).csv\""
        return response
    }
}
