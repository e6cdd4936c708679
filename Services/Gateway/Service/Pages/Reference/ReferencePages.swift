internal import Hummingbird

/// The API as pages for people, and where a developer begins.
struct ReferencePages: Sendable {
    static let templates = ["docs-top", "docs-prose", "docs-type", "docs-index", "docs-group", "docs-schemas", "landing"]

    let dependencies: Dependencies

    private var pages: Pages { dependencies.pages }

    @Sendable func index(_ exchange: Exchange) async throws -> Response { page("index", exchange) }

    /// A group of operations, or all schemas.
    @Sendable func group(_ exchange: Exchange) async throws -> Response {
        let name = try exchange.captured("group")
        return name == "index" ? notFound(exchange) : page(name, exchange)
    }

    /// Where a developer at this very machine begins; nobody else learns from it what runs here.
    @Sendable func landing(_ exchange: Exchange) async throws -> Response {
        guard isOfThisHost(exchange) else { return notFound(exchange) }
        return pages.render("landing", ["origin": exchange.facts.host.origin], status: .ok)
    }

    /// Both ends of the connection are this host, and so is the address that the cluster is known by. What a proxy on this host passes on comes from elsewhere, whether
    /// it says so or not.
    private func isOfThisHost(_ exchange: Exchange) -> Bool {
        let settings = dependencies.settings
        let passedOn: [HTTPFields.Element.Name] = [.xForwardedFor, .xForwardedHost, .xForwardedProto, .forwarded, .via]
        return exchange.facts.isFromThisHost && settings.endpoint.map { Self.isLoopback($0.address) } == true
            && WebOrigin(settings.publicOrigin).map { Self.isLoopback($0.host) } == true && !passedOn.contains { exchange.headers[$0] != nil }
    }

    private static func isLoopback(_ host: String) -> Bool {
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        return bare == "localhost" || RequestFacts.isThisHost(bare)
    }

    private func page(_ name: String, _ exchange: Exchange) -> Response {
        pages.reference(name, origin: exchange.facts.host.origin) ?? notFound(exchange)
    }

    private func notFound(_ exchange: Exchange) -> Response { pages.message(.notFound, exchange) }
}
