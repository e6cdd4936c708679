internal import Catalogue
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// The effective values of integrations on each platform, as tables (dashboard §6).
struct ReportPages: Sendable {
    private static let reports: [(name: String, kind: ReportKind, title: String)] = [
        ("authn-ttl", .authnTtl, "AuthN TTL"), ("authz-ttl", .authzTtl, "AuthZ TTL"), ("sso", .sso, "SSO"),
    ]
    /// Rows of a page; all of them are in the CSV.
    private static let most = 250
    /// Integrations of a catalogue whose report does not begin with all channels: it would take long, and nobody reads it.
    private static let large = 2500

    let console: Console

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let name = try exchange.captured("report")
        guard let report = Self.reports.first(where: { $0.name == name }) else { throw Fault(.notFound, "There is no such report.") }
        let channels = try ConsoleScope(catalogue: console.dependencies.catalogue).channels(of: visitor.administrator)
        // At first all of them, as far as that is a page; a form that was sent says which.
        let isChosen = try exchange.value("chosen") == "1"
        let isLarge = try console.dependencies.catalogue.current().configuration.integrations.count > Self.large
        let first = isLarge ? channels.prefix(1) : channels[...]
        let chosen = isChosen ? try exchange.all("requestor").filter { !$0.isEmpty } : first.map(\.id)
        let mvpds = TypedIds.list(try exchange.all("mvpd"))
        var content: [String: Any] = [
            "channels": ConsoleScope.choices(channels, chosen: chosen),
            "mvpdInputs": TypedIds.inputs(
                chosen.isEmpty ? [] : mvpds, of: .mvpds, name: "mvpd", id: "mvpd", label: "MVPD", describedBy: "mvpd-hint"),
            "reportAddress": Console.address("reports", name), "usageAddress": ConsolePlace.usage.address,
            "reports": Self.reports.map {
                ["reportTitle": $0.title, "reportLink": Console.address("reports", $0.name), "isShown": $0.name == name] as [String: Any]
            },
        ]
        if isLarge, !isChosen { content["isLarge"] = true }
        // Without a channel there is nothing to tell, and no MVPD to choose (dashboard #36).
        if chosen.isEmpty {
            content["noChannel"] = true
        } else {
            let request = GetReportRequest(
                token: visitor.secret, kind: report.kind, requestorIDs: chosen.count == channels.count ? [] : chosen, mvpdIDs: mvpds)
            do {
                let table = try await console.administration.getReport(request, context: exchange.call)
                if try exchange.value("format") == "csv" { return ReportEndpoints.table(table, name: name) }
                content["table"] = Self.table(table)
                content["csvAddress"] = Console.path + "/reports/\(name)?" + Self.query(exchange)
                if table.rows.count > Self.most { content["omitted"] = "\(table.rows.count - Self.most) further rows are in the CSV." }
            } catch let fault as Fault where fault.code == .notFound {
                content["unknown"] = true
            }
        }
        return await console.page("report", "Report: \(report.title)", in: .usage, content, for: visitor, exchange)
    }

    private static func table(_ report: CatalogueReport) -> [String: Any] {
        [
            "columns": report.columns, "hasRows": !report.rows.isEmpty,
            "rows": report.rows.prefix(most).map { row in
                [
                    "rowChannel": row.requestorID, "rowMvpd": row.mvpdName.isEmpty ? row.mvpdID : row.mvpdName,
                    "rowAddress": ConsoleCollection.integrations.address(of: "\(row.requestorID)/\(row.mvpdID)"), "cells": row.cells,
                ] as [String: Any]
            },
        ]
    }

    private static func query(_ exchange: Exchange) -> String { exchange.query.isEmpty ? "format=csv" : exchange.query + "&format=csv" }
}

/// The channels that an administrator may look at, by the newest version of the catalogue.
struct ConsoleScope: Sendable {
    let catalogue: any CatalogueSource

    /// In the catalogue's order: an operator's are all.
    func channels(of administrator: Administrator) throws -> [Requestor] {
        let all = try catalogue.current().configuration.requestors
        guard administrator.role != .operator else { return all }
        let own = Set(administrator.programmerIDs.map { OctetText($0) })
        return all.filter { own.contains(OctetText($0.programmerID)) }
    }

    /// The MVPDs that are integrated with an administrator's channels.
    /// - Returns: `nil`: an operator's are all.
    func mvpds(of administrator: Administrator) throws -> Set<OctetText>? {
        guard administrator.role != .operator else { return nil }
        let own = Set(try channels(of: administrator).map { OctetText($0.id) })
        let integrations = try catalogue.current().configuration.integrations
        return Set(integrations.lazy.filter { own.contains(OctetText($0.requestorID)) }.map { OctetText($0.mvpdID) })
    }

    /// As choices of a form.
    static func choices(_ channels: [Requestor], chosen: [String]) -> [[String: Any]] {
        let ids = Set(chosen.map { OctetText($0) })
        return channels.map { channel in
            [
                "channelId": channel.id, "channelName": channel.name.isEmpty ? channel.id : channel.name,
                "isChannel": ids.contains(OctetText(channel.id)),
            ]
        }
    }
}
