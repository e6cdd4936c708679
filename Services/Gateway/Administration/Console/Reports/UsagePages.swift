internal import Clocks
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// Shows how often people signed in, what MVPDs decided, how much was played (dashboard §6).
struct UsagePages: Sendable {
    /// Rows of the table by MVPD, channel or platform.
    private static let most = 100

    let console: Console

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let view = try UsageView(exchange)
        let now = console.dependencies.wall.now()
        let window = UsageWindow(view.period, now: now, zone: view.zone)
        let channels = try ConsoleScope(catalogue: console.dependencies.catalogue).channels(of: visitor.administrator)
        let asked = view.channel.isEmpty ? channels : channels.filter { $0.id == view.channel }
        // A channel that is not the administrator's is as good as absent (dashboard #40).
        guard !asked.isEmpty || channels.isEmpty else { throw Fault(.notFound, "There is no such channel.") }
        var content = view.content
        content["channels"] = ConsoleScope.choices(channels, chosen: [view.channel])
        content["usageAddress"] = ConsolePlace.usage.address
        content["reportsAddress"] = Console.address("reports", "authn-ttl")
        content["periodColumn"] = Self.column(window)
        content["zoneName"] = window.zoneName
        content["isByHour"] = view.period == .day
        guard !asked.isEmpty else { return await page(content, visitor, exchange) }
        let question = Question(usage: console.dependencies.usage, view: view, window: window, channels: asked.map(\.id), now: now)
        if try exchange.value("format") == "csv" { return Self.csv(try await question.series(exchange), window) }
        async let splitReport = question.split(exchange)
        let series = try await question.series(exchange)
        let split = try await splitReport
        content["csvAddress"] = ConsolePlace.usage.address + "?" + (exchange.query.isEmpty ? "" : exchange.query + "&") + "format=csv"
        if series.isEmpty { content["nothing"] = true } else { content["usage"] = Self.usage(series, split, view) }
        return await page(content, visitor, exchange)
    }

    private func page(_ content: [String: Any], _ visitor: Visitor, _ exchange: Exchange) async -> Response {
        await console.page("usage", "Usage", in: .usage, content, for: visitor, exchange)
    }

    /// What a page asks `config` for.
    private struct Question: Sendable {
        let usage: any Usage
        let view: UsageView
        let window: UsageWindow
        let channels: [String]
        let now: Timestamp

        func series(_ exchange: Exchange) async throws -> UsageSeries {
            let edges = window.edges(now: now)
            async let hours = self.hours(of: edges, exchange)
            let report = try await refined(exchange) { coarse in
                view.query(channels, view.path(isCoarse: coarse), from: coarse ? window.coarseStart : window.start)
            }
            return UsageSeries(report, in: window, edges: try await hours)
        }

        /// The same time, by MVPD, channel or platform.
        func split(_ exchange: Exchange) async throws -> UsageReport {
            try await refined(exchange) { coarse in
                view.query(
                    channels, ["year"], from: coarse ? window.coarseStart : window.start, by: UsageFilter(dimension: view.split.rawValue))
            }
        }

        /// Days of UTC are told by hours, which may be more than config adds up for one report: then by days as they are counted.
        private func refined(_ exchange: Exchange, _ query: @Sendable (_ isCoarse: Bool) -> UsageQuery) async throws -> UsageReport {
            do {
                return try await usage.queryUsage(query(false), context: exchange.call)
            } catch let fault as Fault where fault.code == .invalidRequest && view.period == .month {
                return try await usage.queryUsage(query(true), context: exchange.call)
            }
        }

        private func hours(of days: [Int], _ exchange: Exchange) async throws -> [UsageReport] {
            try await withThrowingTaskGroup(of: UsageReport.self) { group in
                for day in days {
                    let query = view.query(
                        channels, UsageView.Period.day.path, from: UsageWindow.day(day), until: UsageWindow.day(day + 1))
                    group.addTask { try await usage.queryUsage(query, context: exchange.call) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
    }

    private static func column(_ window: UsageWindow) -> String { "\(window.period.column) (\(window.zoneName))" }

    private static func usage(_ series: UsageSeries, _ split: UsageReport, _ view: UsageView) -> [String: Any] {
        var content: [String: Any] = [
            "charts": UsageChart.all(per: view.period.column.lowercased()).map { $0.content(series) }, "columns": UsageSums.columns,
            "rows": series.rows.map { ["period": $0.label, "cells": $0.sums.cells] as [String: Any] },
            "total": series.total.cells, "splitName": view.split.name, "splitRows": splitRows(split),
        ]
        if let label = series.pacificUntil { content["pacificUntil"] = label }
        return content
    }

    /// The years of the window put together, those with most sign-ins and plays first.
    private static func splitRows(_ report: UsageReport) -> [[String: Any]] {
        var found: [OctetText: UsageSums] = [:]
        for row in report.rows { found[OctetText(row.values.last ?? ""), default: UsageSums()].add(row.counts, report.metrics) }
        let sorted = found.sorted { ($1.value.signedIn &+ $1.value.plays, $0.key) < ($0.value.signedIn &+ $0.value.plays, $1.key) }
        return sorted.prefix(most).map { ["splitValue": $0.key.text.isEmpty ? "–" : $0.key.text, "cells": $0.value.cells] }
    }

    private static func csv(_ series: UsageSeries, _ window: UsageWindow) -> Response {
        var table = CommaSeparatedTable()
        table.append([column(window)] + UsageSums.columns)
        for row in series.rows { table.append([row.label] + row.sums.cells) }
        var response = Response(text: table.text, type: "text/csv; charset=utf-8; header=present", cacheControl: "no-store")
        response.headers[.contentDisposition] = "attachment; filename=\"usage-\(window.period.rawValue).csv\""
        return response
    }
}
