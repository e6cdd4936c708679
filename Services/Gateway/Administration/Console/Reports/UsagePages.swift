internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// How often people signed in, what MVPDs decided, how much was played (dashboard §6).
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
