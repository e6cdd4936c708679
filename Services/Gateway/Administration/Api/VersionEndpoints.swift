internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// The versions of the catalogue that were pushed (dashboard §4).
struct VersionEndpoints: Sendable {
    private static let path = "\(EntityCollection.base)/versions"

    let administration: any Administration

    static func address(of version: UInt64) -> String { "\(path)/\(version)" }

    @Sendable func list(_ exchange: Exchange) async throws -> Response {
        let request = ListVersionsRequest(token: try exchange.administrator(), page: try exchange.page())
        let page = try await administration.listVersions(request, context: exchange.call)
        let items = page.versions.map { Document.Value.object(AdministrationDocuments.version($0)) }
        return Response(
            AdministrationDocuments.page("versions", items, total: page.total, page: page.page, size: page.size), format: .json)
    }

    @Sendable func show(_ exchange: Exchange) async throws -> Response {
        let request = GetVersionRequest(token: try exchange.administrator(), version: try exchange.number("version"))
        let snapshot = try await administration.getVersion(request, context: exchange.call)
        let members = AdministrationDocuments.version(snapshot.version ?? CatalogueVersion())
        return Response(Document("version", members + [.init("document", .json(snapshot.documentJson))]), format: .json)
    }

    @Sendable func compare(_ exchange: Exchange) async throws -> Response {
        let request = CompareVersionsRequest(
            token: try exchange.administrator(), oldVersion: try exchange.version("a"), newVersion: try exchange.version("b"))
        let comparison = try await administration.compareVersions(request, context: exchange.call)
        return Response(
            Document(
                "comparison",
                [
                    .init("a", .number(comparison.oldVersion)), .init("b", .number(comparison.newVersion)),
                    .init("changes", .list(comparison.changes.map(AdministrationDocuments.change), item: "change")),
                ]), format: .json)
    }

    @Sendable func restore(_ exchange: Exchange) async throws -> Response {
        let request = RestoreVersionRequest(token: try exchange.administrator(), version: try exchange.number("version"))
        return DraftEndpoints.reply(try DraftEndpoints.draft(try await administration.restoreVersion(request, context: exchange.changingCall)))
    }
}
