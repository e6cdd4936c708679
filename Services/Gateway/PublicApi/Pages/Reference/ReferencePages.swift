internal import Hummingbird

/// The API as pages for people.
struct ReferencePages: Sendable {
    static let templates = ["docs-top", "docs-prose", "docs-type", "docs-index", "docs-group", "docs-schemas"]

    let dependencies: Dependencies

    private var pages: Pages { dependencies.pages }

    @Sendable func index(_ exchange: Exchange) async throws -> Response { page("index", exchange) }

    /// A group of operations, or all schemas.
    @Sendable func group(_ exchange: Exchange) async throws -> Response {
        let name = try exchange.captured("group")
        return name == "index" ? notFound(exchange) : page(name, exchange)
    }

    private func page(_ name: String, _ exchange: Exchange) -> Response {
        pages.reference(name, origin: exchange.facts.host.origin) ?? notFound(exchange)
    }

    private func notFound(_ exchange: Exchange) -> Response { pages.message(.notFound, exchange) }
}
