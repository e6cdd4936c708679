internal import Contracts
internal import GatewayEdge
internal import Hummingbird
internal import Tokens

/// Documents that anyone may read: the service provider's metadata, the media tokens' keys, liveness.
struct PublicDocuments: Sendable {
    let dependencies: Dependencies

    /// mvpd §2.7.
    @Sendable func metadata(_ exchange: Exchange) async throws -> Response {
        let requestor = try exchange.value("requestor") ?? ""
        if !requestor.isEmpty {
            exchange.serves([requestor])
            _ = try dependencies.catalogue.current().requireRequestor(requestor)
        }
        let metadata = try await dependencies.authentication.getServiceProviderMetadata(
            ServiceProviderMetadataRequest(requestor: requestor), context: exchange.call)
        return StaticFile(content: metadata.document, type: "application/samlmetadata+xml").response(ifNoneMatch: exchange.headers[.ifNoneMatch])
    }

    @Sendable func certificates(_ exchange: Exchange) async throws -> Response {
        Response(text: try await keys(exchange).certificates, type: "application/x-pem-file", cacheControl: Self.shortly)
    }

    @Sendable func keySet(_ exchange: Exchange) async throws -> Response {
        Response(text: try await keys(exchange).jwks, type: "application/jwk-set+json", cacheControl: Self.shortly)
    }

    /// The keys verify the tokens that apps of the vendor's SDKs keep; no app does (clients §3).
    @Sendable func storedTokenKeys(_ exchange: Exchange) async throws -> Response {
        let sessions = try await dependencies.authentication.getStoredTokenKeys(GetStoredTokenKeysRequest(), context: exchange.call).jwks
        let sets = try [sessions, try await keys(exchange).storedTokenJwks].filter { !$0.isEmpty }.map { try JSONWebKeySet(json: $0) }
        return Response(text: JSONWebKeySet(keys: sets.flatMap(\.keys)).json, type: "application/jwk-set+json", cacheControl: Self.shortly)
    }

    @Sendable func health(_ exchange: Exchange) async throws -> Response {
        Response(text: "ok\n", type: "text/plain; charset=utf-8", cacheControl: "no-store")
    }

    /// For load balancers: whether requests should come here. Why not is for operators, at the debug listener.
    @Sendable func readiness(_ exchange: Exchange) async throws -> Response {
        let isReady = dependencies.isReady()
        var response = Response(text: isReady ? "ready\n" : "not ready\n", type: "text/plain; charset=utf-8", cacheControl: "no-store")
        if !isReady { response.status = .serviceUnavailable }
        return response
    }

    /// The OpenAPI description of all this.
    @Sendable func description(_ exchange: Exchange) async throws -> Response {
        dependencies.pages.description.response(ifNoneMatch: exchange.headers[.ifNoneMatch])
    }

    private func keys(_ exchange: Exchange) async throws -> MediaTokenKeys {
        try await dependencies.authorization.getMediaTokenKeys(GetMediaTokenKeysRequest(), context: exchange.call)
    }

    /// Keys rotate with overlap: a copy may be a few minutes old.
    private static let shortly = "public, max-age=300"
}
