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

/// Automatic Sign-In for a programmer's own backend: rotation, sign out everywhere, flagged sign-ins (apple §4).
struct OwnerEndpoints: Sendable {
    let dependencies: Dependencies
    let reader: AppCallReader

    @Sendable func rotate(_ exchange: Exchange) async throws -> Response {
        var (call, request) = try await reader.backend(exchange) { exchange throws(Fault) in
            let key = try IdempotencyKey.required(exchange)
            return RotateTokenRequest(
                familyID: try exchange.captured("family"), reason: try AppBody(exchange).optionalText("reason"), idempotencyKey: key)
        }
        request.call = call
        let rotation = try await dependencies.autoSignIn.rotateToken(request, context: exchange.changingCall)
        let members: [Document.Member] = [
            .init("newVersion", .number(Int64(rotation.newVersion))), .init("appleState", .text(Self.word(rotation.appleState))),
        ]
        return Response(Document("rotation", members), format: .json)
    }

    @Sendable func revokeAll(_ exchange: Exchange) async throws -> Response {
        var (call, request) = try await reader.backend(exchange) { exchange throws(Fault) in
            let key = try IdempotencyKey.required(exchange)
            let body = try AppBody(exchange)
            return RevokeAllRequest(
                accountID: try exchange.captured("account"), reason: try body.optionalText("reason"),
                keepSessionID: try body.optionalText("keepSessionId"), idempotencyKey: key)
        }
        request.caller = Caller(who: .backend(call))
        return Self.reply(try await dependencies.autoSignIn.revokeAll(request, context: exchange.changingCall))
    }

    /// A sign-in that the person says was not theirs; from the backend, or from a device of the person, which names itself.
    @Sendable func flag(_ exchange: Exchange) async throws -> Response {
        var request: FlagSignInRequest
        if exchange.headers[.apDeviceIdentifier] == nil {
            let (call, others) = try await reader.backend(exchange, others: Self.flagged)
            request = others
            request.caller = Caller(who: .backend(call))
        } else {
            let (call, others) = try await reader.device(exchange, others: Self.flagged)
            request = others
            request.caller = Caller(who: .device(call))
        }
        return Self.reply(try await dependencies.autoSignIn.flagSignIn(request, context: exchange.changingCall))
    }

    private static func flagged(_ exchange: Exchange) throws(Fault) -> FlagSignInRequest {
        let key = try IdempotencyKey.required(exchange)
        return FlagSignInRequest(sessionID: try exchange.captured("session"), idempotencyKey: key)
    }

    private static func reply(_ revoked: RevokedFamilies) -> Response {
        let members: [Document.Member] = [
            .init("count", .number(Int64(revoked.familyIDs.count))), .init("families", .list(revoked.familyIDs.map { .text($0) }, item: "family")),
            .init("endedSessions", .number(Int64(revoked.endedSessions))),
        ]
        return Response(Document("revoked", members), format: .json)
    }

    private static func word(_ state: AppleCallState) -> String {
        switch state {
        case .done: "done"
        case .dead: "dead"
        case .queued, .unknown, .unrecognized: "queued"
        }
    }
}

/// Sign in with Apple in a browser (apple §2.1): to Apple's page, and back by a form that Apple posts.
struct AppleWebEndpoints: Sendable {
    let dependencies: Dependencies

    @Sendable func start(_ exchange: Exchange) async throws -> Response {
        let requestor = try dependencies.catalogue.current().requireRequestor(try exchange.captured("requestor"))
        let request = StartWebSignInRequest(requestor: requestor.id, returnURL: try exchange.value("returnUrl") ?? "")
        let start = try await dependencies.signInWithApple.startWebSignIn(request, context: exchange.changingCall)
        let pending = SignInStart(url: start.url, browserSecret: start.browserSecret, expiresInSeconds: start.expiresInSeconds)
        var response = Response.redirect(to: start.url)
        cookie(state: SignInCookie.relayState(of: pending), exchange).set(pending, among: exchange, in: &response)
        return response
    }

    @Sendable func callBack(_ exchange: Exchange) async throws -> Response {
        guard var request = answer(exchange) else {
            exchange.logger.warning("sign-in-rejected", metadata: ["reason": "apple.params"])
            return dependencies.notices.page(.appleRefused, exchange)
        }
        let cookie = cookie(state: request.state, exchange)
        request.browserSecret = cookie.value(in: exchange) ?? ""
        return try await complete(request, cookie, exchange)
    }

    /// - Parameter cookie: The cookie of the pending sign-in; it goes with the outcome.
    func complete(_ request: CompleteWebSignInRequest, _ cookie: SignInCookie, _ exchange: Exchange) async throws -> Response {
        let outcome: WebSignInOutcome
        do { outcome = try await dependencies.signInWithApple.completeWebSignIn(request, context: exchange.changingCall) } catch let fault as Fault {
            guard AutoSignInErrors.status(AutoSignInErrors.row(for: fault.code)).code < 500 else { throw fault }
            exchange.logger.warning("sign-in-rejected", metadata: ["reason": "\(fault.code)"])
            return dependencies.notices.page(.appleRefused, exchange)
        }
        switch outcome.outcome {
        case .signedIn(let signedIn):
            var response = Response.redirect(to: Self.address(signedIn.returnURL))
            cookie.clear(in: &response, exchange)
            if let session = signedIn.session { DevicesCookie(dependencies.settings, exchange).set(session, in: &response) }
            return response
        case .cancelled(let cancelled):
            var response = Response.redirect(to: Self.address(cancelled.returnURL))
            cookie.clear(in: &response, exchange)
            return response
        case .ticket(let ticket): return confirmation(ticket, state: request.state, exchange)
        case nil: throw Fault(.internal, "The service gave no outcome.")
        }
    }

    func cookie(state: String, _ exchange: Exchange) -> SignInCookie {
        SignInCookie(relayState: state, isInsecure: dependencies.settings.insecureCookies && !exchange.facts.isSecure)
    }

    /// The person decides (apple §2.8): a new account, or the one there is.
    private func confirmation(_ ticket: TicketIssued, state: String, _ exchange: Exchange) -> Response {
        let content: [String: Any] =
            ticket.code == "account_exists" ? ["exists": true] : ["confirm": ["ticket": ticket.ticket, "state": String(state.prefix(16))]]
        return dependencies.pages.confirmation(content, exchange)
    }

    /// Each field at most once; nothing of it from the query.
    private func answer(_ exchange: Exchange) -> CompleteWebSignInRequest? {
        guard exchange.query.isEmpty, let state = only("state", exchange), let code = only("code", exchange),
            let token = only("id_token", exchange), let user = only("user", exchange), let error = only("error", exchange), !state.isEmpty
        else { return nil }
        return CompleteWebSignInRequest(state: state, code: code, identityToken: token, user: user, error: error)
    }

    /// - Returns: Empty when it was not sent; `nil` when it was sent twice, also with one value, or cannot be decoded.
    private func only(_ name: String, _ exchange: Exchange) -> String? {
        guard let values = try? exchange.all(name), values.count < 2 else { return nil }
        return values.first ?? ""
    }

    private static func address(_ url: String) -> String { url.isEmpty ? DevicesPages.path : url }
}
