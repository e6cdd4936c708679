internal import Contracts
internal import GatewayEdge

/// The ids that fields of a page offer, as lists of the browser: they work without scripts, and any other id can still be typed.
struct IdChoices: Sendable {
    /// Entries of one list: it takes up to 40 kB of a page.
    static let most = 500
    /// A draft with more new entries than config tells at once offers the first of them.
    private static let mostDrafted: UInt32 = 200

    /// The templates whose fields name entries that are live, and the kinds of these. Forms for entries ask for theirs themselves.
    static let named: [String: [ConsoleCollection]] = [
        "audit": [.channels, .mvpds], "degrade": [.mvpds], "report": [.mvpds], "sign-ins": [.mvpds], "support": [.mvpds], "usage": [.mvpds],
    ]

    let console: Console

    /// The name of a list in pages.
    static func listId(_ collection: ConsoleCollection) -> String { "\(collection.rawValue)-ids" }

    /// Returns the lists for the template `ids`. What cannot be asked for is left out: the fields are of use without them.
    /// - Parameters:
    ///   - collections: The kinds of entries that the page's fields name; a kind may be there twice.
    ///   - isDrafted: Entries that only the administrator's draft has are offered too.
    func content(
        _ collections: [ConsoleCollection], isDrafted: Bool = false, for visitor: Visitor, _ exchange: Exchange
    ) async -> [String: Any] {
        var lists: [[String: Any]] = []
        var cuts: [String] = []
        for collection in ConsoleCollection.allCases where collections.contains(collection) {
            var choices = live(collection, visitor.administrator)
            if isDrafted, visitor.mayEdit {
                let known = Set(choices.map { OctetText($0.id) })
                choices += await drafted(collection, visitor, exchange).filter { !known.contains(OctetText($0.id)) }
            }
            lists.append([
                "listId": Self.listId(collection),
                "listed": choices.prefix(Self.most).map { ["listedId": $0.id, "listedName": OctetText($0.name) == OctetText($0.id) ? "" : $0.name] },
            ])
            if choices.count > Self.most {
                cuts.append("The list has the first \(Self.most) of \(choices.count) \(collection.place.name); any other id can be typed.")
            }
        }
        return ["idLists": lists, "idListCuts": cuts]
    }

    private func live(_ collection: ConsoleCollection, _ administrator: Administrator) -> [(id: String, name: String)] {
        guard let configuration = try? console.dependencies.catalogue.current().configuration else { return [] }
        switch collection {
        case .channels:
            let channels = try? ConsoleScope(catalogue: console.dependencies.catalogue).channels(of: administrator)
            return (channels ?? []).map { ($0.id, $0.name) }
        case .mvpds: return configuration.mvpds.map { ($0.id, $0.displayName) }
        case .programmers:
            let own = Set(administrator.programmerIDs.map { OctetText($0) })
            return configuration.programmers.filter { administrator.role == .operator || own.contains(OctetText($0.id)) }.map { ($0.id, $0.name) }
        case .upstreams: return administrator.role == .operator ? configuration.upstreams.map { ($0.id, "") } : []
        case .integrations, .applications: return []
        }
    }

    private func drafted(_ collection: ConsoleCollection, _ visitor: Visitor, _ exchange: Exchange) async -> [(id: String, name: String)] {
        let request = ListEntitiesRequest(
            token: visitor.secret, kind: collection.kind, page: PageRequest(page: 1, size: Self.mostDrafted), changedOnly: true)
        let changed = try? await console.administration.listEntities(request, context: exchange.call).entities
        return (changed ?? []).map { ConsoleEntry(collection, $0) }.map { ($0.id, $0.name) }
    }
}

/// Ids that are typed into several inputs of one name: one in each, or more with blanks or commas between.
enum TypedIds {
    /// Empty inputs behind those that hold an id.
    private static let spare = 2
    /// Ids with an input of their own; those behind them share one.
    private static let most = 40

    /// Returns each id once, in the order in which they were typed.
    static func list(_ typed: [String]) -> [String] {
        var seen: Set<OctetText> = []
        return typed.flatMap { $0.split { $0.isWhitespace || $0 == "," } }.map(String.init).filter { seen.insert(OctetText($0)).inserted }
    }

    /// Returns the inputs for the template `id-inputs`.
    /// - Parameters:
    ///   - ids: Those that are there already.
    ///   - id: Of the first input, which the label names.
    ///   - describedBy: Ids of the elements that describe them; `nil`: none does.
    static func inputs(
        _ ids: [String], of collection: ConsoleCollection, name: String, id: String, label: String, describedBy: String? = nil,
        isRequired: Bool = false, isWrong: Bool = false
    ) -> [String: Any] {
        let rest = ids.dropFirst(most).joined(separator: " ")
        let values = ids.prefix(most) + (rest.isEmpty ? [] : [rest]) + Array(repeating: "", count: spare)
        var content: [String: Any] = [
            "idField": name, "idLabel": label, "idList": IdChoices.listId(collection), "idRequired": isRequired, "idIsWrong": isWrong,
            "idInputs": values.enumerated().map { index, value in
                [
                    "idInput": index == 0 ? id : "\(id)-\(index + 1)", "idNumber": "\(index + 1)", "idValue": value, "isFirstId": index == 0,
                ] as [String: Any]
            },
        ]
        if let describedBy { content["idDescribedBy"] = describedBy }
        return content
    }
}
