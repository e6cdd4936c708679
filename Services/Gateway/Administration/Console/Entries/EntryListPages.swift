internal import CatalogueFiles
internal import Contracts
internal import GatewayEdge
internal import Hummingbird

/// Lists of the catalogue's entries, by pages and with a filter.
struct EntryListPages: Sendable {
    private static let size: UInt32 = 50

    let console: Console
    let collection: ConsoleCollection

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let filter = try Filter(exchange)
        let request = ListEntitiesRequest(
            token: visitor.secret, kind: collection.kind, query: filter.query,
            page: PageRequest(page: try exchange.page().page, size: Self.size), requestorID: filter.requestor, mvpdID: filter.mvpd,
            changedOnly: filter.changedOnly)
        let list = try await console.administration.listEntities(request, context: exchange.call)
        let states = collection == .upstreams ? await UpstreamSection(console: console).states("", exchange) : nil
        var content: [String: Any] = [
            "noun": collection.noun, "listAddress": Console.address(collection.rawValue), "columns": EntryRow.columns(collection),
            "rows": list.entities.map { EntryRow(ConsoleEntry(collection, $0), state: states?[OctetText($0.id)]).content },
            "query": filter.query, "changedOnly": filter.changedOnly,
            "isFiltered": filter != Filter(),
        ]
        if collection == .integrations {
            content["pair"] = ["requestor": filter.requestor, "mvpd": filter.mvpd]
            content.merge(await IdChoices(console: console).content([.channels, .mvpds], isDrafted: true, for: visitor, exchange)) { own, _ in own }
        }
        if collection == .mvpds, visitor.isOperator { content["connectAddress"] = ConnectPages.path }
        if collection != .mvpds, collection.mayWrite(visitor, isReplacement: false) {
            content["addAddress"] = Console.address(
                "new", collection.rawValue, query: ["requestor": filter.requestor, "mvpd": filter.mvpd])
        }
        content.merge(
            PagerContent(total: list.total, page: list.page, size: list.size) { page in
                Console.address(
                    collection.rawValue,
                    query: [
                        "q": filter.query, "requestor": filter.requestor, "mvpd": filter.mvpd, "changed": filter.changedOnly ? "1" : "",
                        "page": "\(page)",
                    ])
            }.content
        ) { own, _ in own }
        return await console.page(
            "list", collection.place.name, window: filter.title(of: collection.place.name, page: max(1, list.page)), in: collection.place, content,
            for: visitor, exchange)
    }

    /// The filter of the list.
    private struct Filter: Equatable {
        var query = ""
        var requestor = ""
        var mvpd = ""
        var changedOnly = false

        init() {}

        init(_ exchange: Exchange) throws {
            query = String((try exchange.value("q") ?? "").prefix(200))
            requestor = try exchange.value("requestor") ?? ""
            mvpd = try exchange.value("mvpd") ?? ""
            changedOnly = try exchange.value("changed") == "1"
        }

        /// The title of the window: what the list is narrowed to, and which of its pages it is.
        func title(of name: String, page: UInt32) -> String {
            let words = [requestor, mvpd, query.isEmpty ? "" : "“\(query)”", changedOnly ? "changed" : ""].filter { !$0.isEmpty }
            let narrowed = words.isEmpty ? name : "\(name): \(words.joined(separator: ", "))"
            return page == 1 ? narrowed : "\(narrowed), page \(page)"
        }

        static func == (left: Filter, right: Filter) -> Bool {
            left.changedOnly == right.changedOnly && [left.query, left.requestor, left.mvpd] == [right.query, right.requestor, right.mvpd]
        }
    }
}

/// One is in a list of several pages here.
struct PagerContent {
    let content: [String: Any]

    /// - Parameter address: The function that makes the address of a page.
    init(total: UInt32, page: UInt32, size: UInt32, address: (UInt32) -> String) {
        // Another implementation of the service counts as it likes.
        let page = max(1, page)
        let first = UInt64(page - 1) * UInt64(size) + 1
        let last = min(UInt64(page) * UInt64(size), UInt64(total))
        var pager: [String: Any] = ["range": total == 0 || first > last ? "None of \(total)" : "\(first)–\(last) of \(total)"]
        if page > 1 { pager["previousAddress"] = address(page - 1) }
        if last < total, first <= last { pager["nextAddress"] = address(page + 1) }
        content = ["pager": pager, "isEmpty": total == 0]
    }
}

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
        case .upstreams: ["Upstream", "State", "Address", "Clients"]
        }
    }

    /// - Parameter state: How an upstream is now; `nil`: it is none, or nobody can say.
    init(_ entry: ConsoleEntry, state: UpstreamState? = nil) {
        let columns = Self.columns(entry.collection)
        let cells = zip(columns.dropFirst(), Self.cells(entry, state)).map { ["cellLabel": $0, "cell": $1] }
        var content: [String: Any] = [
            "rowLabel": columns[0], "rowName": entry.name, "rowAddress": entry.collection.address(of: entry.id), "cells": cells,
            "isChanged": entry.entity.isChanged,
        ]
        if entry.collection == .integrations { content["isOff"] = !entry.isOn }
        self.content = content
    }

    private static func cells(_ entry: ConsoleEntry, _ state: UpstreamState?) -> [String] {
        let tree = entry.tree
        switch entry.collection {
        case .channels: return [entry.id, tree["programmer"]?.text ?? "", names(tree["domains"])]
        case .mvpds:
            let decisions = tree["upstreamOnly"] == .bool(true) ? "by an upstream" : "none"
            return [entry.id, signIn(tree), tree["authorization"]?["protocol"]?.text ?? decisions]
        case .integrations:
            let lifetime = tree["authnTtl"].flatMap { if case .number(let text) = $0 { Int(text) } else { nil } }
            return [
                entry.isOn ? "On" : "Off", lifetime.map { LifetimeText(seconds: $0).text } ?? "as the MVPD says",
                tree["platformSso"] == .bool(true) ? "On" : "Off",
            ]
        case .applications: return [tree["version"]?.text ?? "", tree["programmer"]?.text ?? "", names(tree["requestors"])]
        case .programmers: return [entry.id]
        case .upstreams: return [UpstreamSection.word(state), tree["baseUrl"]?.text ?? "", names(tree["clients"])]
        }
    }

    /// The first of them, and how many more there are.
    private static func names(_ list: JsonTree?) -> String {
        let names = (list?.elements ?? []).map { $0.text ?? $0["name"]?.text ?? $0["id"]?.text ?? "" }
        let first = names.prefix(3).joined(separator: ", ")
        return names.count > 3 ? "\(first) and \(names.count - 3) more" : first
    }

    private static func signIn(_ tree: JsonTree) -> String {
        if tree["saml"] != nil { return "SAML" }
        if let oauth = tree["oauth"] { return oauth["callback"]?.text == "shared" ? "OAuth, shared callback" : "OAuth" }
        if tree["tempPass"] != nil { return "TempPass" }
        if tree["upstreamOnly"] == .bool(true) { return "by an upstream" }
        return tree["proxy"]?["mvpd"]?.text.map { "through \($0)" } ?? "none"
    }
}
