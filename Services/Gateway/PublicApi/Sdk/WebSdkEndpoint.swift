internal import GatewayEdge
internal import Hummingbird

/// `/entitlement/v4/…`: the script that pages of the vendor's web SDK load (web-sdk §2).
struct WebSdkEndpoint: Sendable {
    let pages: Pages

    @Sendable func newest(_ exchange: Exchange) async throws -> Response { script(nil, exchange) }

    /// - Throws: `invalid_request` when the version is no text.
    @Sendable func version(_ exchange: Exchange) async throws -> Response { script(try exchange.captured("version"), exchange) }

    private func script(_ version: String?, _ exchange: Exchange) -> Response {
        pages.webSdk?.response(version, exchange.headers)
            ?? pages.message(.notFound, trace: exchange.facts.trace.traceID, for: pages.reader(exchange))
    }
}
