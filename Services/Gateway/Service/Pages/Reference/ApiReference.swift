internal import NIOCore
internal import StrictJson
internal import Synchronization

/// The pages that tell the API, made of its OpenAPI description: one of all groups, one of each group, one of all schemas. They are made when somebody asks for
/// the first of them.
final class ApiReference: Sendable {
    static let path = "/docs"

    private enum State {
        case unread
        case read(contents: [OctetText: [String: Any]], made: [OctetText: ByteBuffer])
    }

    private let text: String
    private let origin: String
    private let state = Mutex(State.unread)

    /// - Parameters:
    ///   - text: The OpenAPI description.
    ///   - origin: The gateway's own address, for examples.
    init(_ text: String, origin: String) {
        self.text = text
        self.origin = origin
    }

    /// - Parameters:
    ///   - name: `index`, `schemas`, or a group.
    ///   - render: Makes a page of what its template shows; once for each.
    /// - Returns: `nil`: there is no such page.
    func page(_ name: String, _ render: (_ template: String, _ content: [String: Any]) -> ByteBuffer) -> ByteBuffer? {
        let key = OctetText(name)
        return state.withLock { state in
            if case .unread = state { state = .read(contents: Self.contents(text, origin), made: [:]) }
            guard case .read(let contents, var made) = state else { return nil }
            if let page = made[key] { return page }
            guard let content = contents[key] else { return nil }
            let page = render(name == "index" || name == "schemas" ? "docs-\(name)" : "docs-group", content)
            made[key] = page
            state = .read(contents: contents, made: made)
            return page
        }
    }

    private static func contents(_ text: String, _ origin: String) -> [OctetText: [String: Any]] {
        guard let description = try? ApiDescription(parsing: text) else { return [:] }
        let groups = description.groups.map { group in (group, description.operations.filter { sameOctets($0.group, group.name) }) }
        let operations = OperationContent(description: description, origin: origin)
        var pages: [OctetText: [String: Any]] = [:]
        pages["index"] = [
            "title": "The API", "prose": Prose.pieces(description.root["info"]?["description"]?.text), "origin": origin,
            "groups": groups.map { group, own in
                [
                    "groupName": group.name, "groupAddress": "\(path)/\(group.slug)", "prose": Prose.pieces(group.description),
                    "operations": own.map { operations.row($0, in: group) },
                ] as [String: Any]
            },
        ]
        pages["schemas"] = ["title": "Schemas", "schemas": SchemaContent(description: description).all]
        for (group, own) in groups {
            pages[OctetText(group.slug)] = [
                "title": group.name, "prose": Prose.pieces(group.description), "rows": own.map { operations.row($0, in: group) },
                "operations": own.map(operations.whole),
            ]
        }
        return pages
    }
}
