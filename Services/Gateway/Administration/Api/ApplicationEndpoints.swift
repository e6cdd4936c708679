internal import Contracts
internal import Hummingbird

/// Software statements of registered applications (dashboard §2).
struct ApplicationEndpoints: Sendable {
    let administration: any Administration

    @Sendable func statement(_ exchange: Exchange) async throws -> Response {
        let request = DownloadSoftwareStatementRequest(token: try exchange.administrator(), applicationID: try exchange.captured("id"))
        let statement = try await administration.downloadSoftwareStatement(request, context: exchange.changingCall)
        return Response(text: statement.statement, type: "text/plain; charset=utf-8", cacheControl: "no-store")
    }

    @Sendable func revoke(_ exchange: Exchange) async throws -> Response {
        let request = RevokeSoftwareStatementsRequest(token: try exchange.administrator(), applicationID: try exchange.captured("id"))
        _ = try await administration.revokeSoftwareStatements(request, context: exchange.changingCall)
        return .empty(.noContent)
    }
}
