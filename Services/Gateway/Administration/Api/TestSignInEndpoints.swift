internal import Contracts
internal import Hummingbird

/// Test sign-ins by the administrator's draft. What came of one is a report like any other.
struct TestSignInEndpoints: Sendable {
    static let path = "\(EntityCollection.base)/draft/test-sign-ins"

    let desk: TestSignInDesk

    @Sendable func begin(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let (requestor, mvpd) = try AdministrationBody.object(exchange) { ($0.text("requestor"), $0.text("mvpd")) }
        let test = try await desk.begin(requestor: requestor, mvpd: mvpd, by: token, exchange)
        var response = Response(
            Document(
                "testSignIn",
                [
                    .init("id", .text(test.id)), .init("address", .text(test.address)), .init("expiresAt", .number(test.expiresAt)),
                    .init("draftEtag", .optional(test.draftEtag)),
                ]), format: .json, status: .created)
        response.headers[.location] = "\(SignInReportEndpoints.path)/\(test.id)"
        return response
    }
}
