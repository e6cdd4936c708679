internal import CatalogueFiles
internal import GatewayEdge

/// One entry of a list: what tells it from the others.
struct EntryRow {
    let content: [String: Any]

    static func columns(_ collection: ConsoleCollection) -> [String] {
        switch collection {
        case .channels: ["Channel", "Id", "Programmer", "Domains"]
        case .mvpds: ["MVPD", "Id", "Sign-in", "Decisions"]
        case .integrations: ["Integration", "State", "Sign-in lasts", "Single sign-on"]
        case .applications: ["Application", "Version", "Programmer", "Channels"]
        case .programmers: ["Programmer", "Id"]
        }
    }

    init(_ entry: ConsoleEntry) {
        let columns = Self.columns(entry.collection)
        let cells = zip(columns.dropFirst(), Self.cells(entry)).map { ["cellLabel": $0, "cell": $1] }
        var content: [String: Any] = [
            "rowLabel": columns[0], "rowName": entry.name, "rowAddress": entry.collection.address(of: entry.id), "cells": cells,
            "isChanged": entry.entity.isChanged,
        ]
        if entry.collection == .integrations { content["isOff"] = !entry.isOn }
        self.content = content
    }

    private static func cells(_ entry: ConsoleEntry) -> [String] {
        let tree = entry.tree
        switch entry.collection {
        case .channels: return [entry.id, tree["programmer"]?.text ?? "", names(tree["domains"])]
        case .mvpds: return [entry.id, signIn(tree), tree["authorization"]?["protocol"]?.text ?? "none"]
        case .integrations:
            let lifetime = tree["authnTtl"].flatMap { if case .number(let text) = $0 { Int(text) } else { nil } }
            return [
                entry.isOn ? "On" : "Off", lifetime.map { LifetimeText(seconds: $0).text } ?? "as the MVPD says",
                tree["platformSso"] == .bool(true) ? "On" : "Off",
            ]
        case .applications: return [tree["version"]?.text ?? "", tree["programmer"]?.text ?? "", names(tree["requestors"])]
        case .programmers: return [entry.id]
        }
    }

    /// The first of them, and how many more there are.
    private static func names(_ list: JsonTree?) -> String {
        let names = (list?.elements ?? []).map { $0.text ?? $0["name"]?.text ?? "" }
        let first = names.prefix(3).joined(separator: ", ")
        return names.count > 3 ? "\(first) and \(names.count - 3) more" : first
    }

    private static func signIn(_ tree: JsonTree) -> String {
        if tree["saml"] != nil { return "SAML" }
        if let oauth = tree["oauth"] { return oauth["callback"]?.text == "shared" ? "OAuth, shared callback" : "OAuth" }
        if tree["tempPass"] != nil { return "TempPass" }
        return tree["proxy"]?["mvpd"]?.text.map { "through \($0)" } ?? "none"
    }
}
