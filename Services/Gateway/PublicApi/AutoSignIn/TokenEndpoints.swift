internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import TextEncodings

/// Automatic Sign-In for devices (apple §4). A value of a token is read from bodies and written into them, and goes nowhere else.
struct TokenEndpoints: Sendable {
    let dependencies: Dependencies
    let reader: AppCallReader

    private static let environments: KeyValuePairs = ["production": AppleEnvironment.production, "sandbox": .sandbox]
    private static let authorizations: KeyValuePairs = [
        "granted": ContextAuthorization.granted, "denied": .denied, "notDetermined": .notDetermined,
    ]

    @Sendable func issue(_ exchange: Exchange) async throws -> Response {
        var (call, request) = try await reader.device(exchange) { exchange throws(Fault) in
            let key = try IdempotencyKey.required(exchange)
            let body = try AppBody(exchange)
            return IssueTokenRequest(
                accountID: try body.optionalText("accountId"), bundleID: try body.text("bundleId"),
                environment: try body.choice("environment", Self.environments),
                contextAuthorization: try body.choice("contextAuthorization", Self.authorizations), idempotencyKey: key)
        }
        request.call = call
        let token = try await dependencies.autoSignIn.issueToken(request, context: exchange.changingCall)
        return Response(AutoSignInDocuments.issued(token), format: .json, status: .created)
    }

    @Sendable func confirm(_ exchange: Exchange) async throws -> Response {
        var (call, request) = try await reader.device(exchange) { exchange throws(Fault) in
            let key = try IdempotencyKey.required(exchange)
            return ConfirmStoredRequest(
                familyID: try exchange.captured("family"),
                outcome: try AppBody(exchange).choice("outcome", ["stored": StorageOutcome.stored, "failed": .failed]), idempotencyKey: key)
        }
        request.call = call
        let family = try await dependencies.autoSignIn.confirmStored(request, context: exchange.changingCall)
        return Response(Document("family", AutoSignInDocuments.family(family)), format: .json)
    }

    @Sendable func redeem(_ exchange: Exchange) async throws -> Response {
        var (call, request) = try await reader.device(exchange) { exchange throws(Fault) in
            let key = try IdempotencyKey.required(exchange)
            let body = try AppBody(exchange)
            return RedeemTokenRequest(
                value: try body.text("value"), bundleID: try body.text("bundleId"), environment: try body.choice("environment", Self.environments),
                idempotencyKey: key)
        }
        request.call = call
        let redeemed = try await dependencies.autoSignIn.redeemToken(request, context: exchange.changingCall)
        let members = AutoSignInDocuments.session(redeemed.session ?? StreamingSession())
        return Response(Document("session", members + [.init("rotateSoon", .flag(redeemed.rotateSoon))]), format: .json)
    }

    @Sendable func list(_ exchange: Exchange) async throws -> Response {
        let call = try await reader.device(exchange) { _ throws(Fault) in }.call
        let status = try await dependencies.autoSignIn.getOptInStatus(
            GetOptInStatusRequest(caller: Caller(who: .device(call))), context: exchange.call)
        return Response(AutoSignInDocuments.status(status), format: .json)
    }

    @Sendable func revoke(_ exchange: Exchange) async throws -> Response {
        var (call, request) = try await reader.device(exchange) { exchange throws(Fault) in
            let key = try IdempotencyKey.required(exchange)
            let body = try AppBody(exchange)
            let (value, family) = (try body.optionalText("value"), try body.optionalText("familyId"))
            guard value.isEmpty != family.isEmpty else { throw Fault(.invalidRequest, "Exactly one of 'value' and 'familyId' must be present") }
            return RevokeTokenRequest(value: value, familyID: family, reason: try body.optionalText("reason"), idempotencyKey: key)
        }
        request.caller = Caller(who: .device(call))
        let revocation = try await dependencies.autoSignIn.revokeToken(request, context: exchange.changingCall)
        return Response(Document("revocation", [.init("revokedAt", .number(revocation.revokedAtMilliseconds))]), format: .json)
    }

    /// A link with which a browser of the same person sees the devices page.
    @Sendable func webLink(_ exchange: Exchange) async throws -> Response {
        let call = try await reader.device(exchange) { _ throws(Fault) in }.call
        let link = try await dependencies.autoSignIn.createWebLink(CreateWebLinkRequest(call: call), context: exchange.changingCall)
        let address = "\(exchange.facts.host.origin)/devices/open/\(PercentEncoding.encode(link.handle))"
        let members: [Document.Member] = [.init("url", .text(address)), .init("expiresIn", .number(Int64(link.expiresInSeconds)))]
        return Response(Document("link", members), format: .json, status: .created)
    }
}
