internal import GatewayEdge
internal import Hummingbird

/// The page to which `helpUrl` of an enhanced error leads.
struct HelpPages: Sendable {
    let pages: Pages

    /// Codes that stand in the template.
    private static let written: Set = ["invalid_access_token_client_application", "invalid_access_token_service_provider"]

    @Sendable func errors(_ exchange: Exchange) async throws -> Response {
        var told = Self.written
        let rows = (ErrorTable.rows + AutoSignInErrors.rows + V2Errors.rows).filter { told.insert($0.code).inserted }.map { row in
            [
                "code": row.code, "action": row.action, "statuses": row.statuses.map(String.init).joined(separator: ", "),
            ]
        }
        return pages.render("errors", ["rows": rows], status: .ok, for: english(exchange), holdsNoSecret: true)
    }

    /// Codes are for engineers.
    private func english(_ exchange: Exchange) -> PageReader {
        var reader = pages.english
        reader.acceptsGzip = Gzip.isAccepted(exchange.headers[.acceptEncoding])
        return reader
    }
}
