internal import Contracts
internal import Faults
internal import GatewayEdge
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

/// Begins sign-ins by an administrator's draft: config says who may and hands out what to try, authentication tries it.
struct TestSignInDesk: Sendable {
    let administration: any Administration
    let operations: any AuthenticationOperations
    /// Of sign-ins.
    let origin: String

    /// A test that waits for a browser.
    struct Begun: Sendable {
        /// Trace id of its report.
        let id: String
        /// Opens it, once: at the origin of sign-ins, as the browser needs the cookie that the MVPD's answer brings.
        let address: String
        /// Milliseconds since 1970.
        let expiresAt: UInt64
        /// Of the draft that is tried; empty: there is none, and the newest version is.
        let draftEtag: String
    }

    /// - Throws: `AdministrationError` of a refusal, faults of both services.
    func begin(requestor: String, mvpd: String, by token: String, _ exchange: Exchange) async throws -> Begun {
        let request = PrepareTestSignInRequest(
            token: token, requestorID: requestor, mvpdID: mvpd, secrets: await .asked(of: operations, for: exchange))
        let plan: TestSignInPlan
        switch try await administration.prepareTestSignIn(request, context: exchange.changingCall).outcome {
        case .plan(let prepared): plan = prepared
        case .refusal(let refusal): throw AdministrationError(refusal)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
        let begin = BeginTestSignInRequest(configuration: plan.configuration, requestor: requestor, mvpd: mvpd)
        let test = try await operations.beginTestSignIn(begin, context: exchange.changingCall)
        return Begun(
            id: test.id, address: address(test.ticket), expiresAt: test.expiresAtMilliseconds, draftEtag: plan.draftEtag)
    }

    func address(_ ticket: String) -> String { "\(origin)\(KnownPaths.testSignIn)/\(ticket)" }
}
