internal import GatewayEdge
internal import Hummingbird
internal import NIOCore
internal import StrictJson
internal import Synchronization

/// The pages that tell the API, made of its OpenAPI description: one of all groups, one of each group, one of all schemas. They are made when somebody asks for
/// the first of them, for each of the gateway's names.
final class ApiReference: Sendable {
    static let path = "/docs"

    private struct State {
        let contents: [OctetText: [String: Any]]
        var made: [OctetText: ByteBuffer] = [:]
    }

    private let text: String
    /// By origin, of which the settings have a few.
    private let states = Mutex<[OctetText: State]>([:])

    /// - Parameter text: The OpenAPI description.
    init(_ text: String) { self.text = text }

    /// - Parameters:
    ///   - name: `index`, `schemas`, or a group.
    ///   - origin: The gateway's own address, for examples; of the settings.
    ///   - render: Makes a page of what its template shows; once for each.
    /// - Returns: `nil`: there is no such page.
    func page(_ name: String, origin: String, _ render: (_ template: String, _ content: [String: Any]) -> ByteBuffer) -> ByteBuffer? {
        let key = OctetText(name)
        return states.withLock { states in
            var state = states[OctetText(origin)] ?? State(contents: Self.contents(text, origin))
            if let page = state.made[key] { return page }
            guard let content = state.contents[key] else { return nil }
            let page = render(name == "index" || name == "schemas" ? "docs-\(name)" : "docs-group", content)
            state.made[key] = page
            states[OctetText(origin)] = state
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

/// The API as pages for people.
struct ReferencePages: Sendable {
    private let pages: Pages
    private let reference: ApiReference

    init(_ pages: Pages) {
        self.pages = pages
        reference = ApiReference(String(buffer: pages.description.content))
    }

    @Sendable func index(_ exchange: Exchange) async throws -> Response { page("index", exchange) }

    /// A group of operations, or all schemas.
    @Sendable func group(_ exchange: Exchange) async throws -> Response {
        let name = try exchange.captured("group")
        return name == "index" ? notFound(exchange) : page(name, exchange)
    }

    private func page(_ name: String, _ exchange: Exchange) -> Response {
        reference.page(name, origin: exchange.facts.host.origin) { pages.html($0, $1, pages.english) }.map(pages.standing) ?? notFound(exchange)
    }

    private func notFound(_ exchange: Exchange) -> Response { pages.message(.notFound, exchange) }
}
