internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore

/// Sign in with Apple for devices (apple §2, §4).
struct AppleEndpoints: Sendable {
    let dependencies: Dependencies
    let reader: AppCallReader

    @Sendable func nonce(_ exchange: Exchange) async throws -> Response {
        var (call, request) = try await reader.device(exchange) { exchange throws(Fault) in
            CreateNonceRequest(clientID: try AppBody(exchange).text("clientId"))
        }
        request.call = call
        let nonce = try await dependencies.signInWithApple.createNonce(request, context: exchange.changingCall)
        let members: [Document.Member] = [.init("nonce", .text(nonce.nonce)), .init("expiresAt", .number(nonce.expiresAtMilliseconds))]
        return Response(Document("nonce", members), format: .json, status: .created)
    }

    @Sendable func signIn(_ exchange: Exchange) async throws -> Response {
        var (call, request) = try await reader.device(exchange) { exchange throws(Fault) in
            let key = try IdempotencyKey.required(exchange)
            let body = try AppBody(exchange)
            let proof = try AppleProof(body)
            return AppleSignInRequest(
                identityToken: proof.identityToken, code: proof.code, nonce: proof.nonce, clientID: proof.clientID, user: proof.user,
                ticket: proof.ticket, createAccount: try body.flag("createAccount"), idempotencyKey: key)
        }
        request.call = call
        switch try await dependencies.signInWithApple.signIn(request, context: exchange.changingCall).outcome {
        case .signedIn(let signedIn): return Self.reply(signedIn)
        case .ticket(let ticket): return reply(ticket, exchange)
        case nil: throw Fault(.internal, "The service gave no outcome.")
        }
    }

    @Sendable func link(_ exchange: Exchange) async throws -> Response {
        var (call, request) = try await reader.device(exchange) { exchange throws(Fault) in
            let key = try IdempotencyKey.required(exchange)
            let proof = try AppleProof(try AppBody(exchange))
            return LinkAppleRequest(
                identityToken: proof.identityToken, code: proof.code, nonce: proof.nonce, clientID: proof.clientID, user: proof.user,
                ticket: proof.ticket, idempotencyKey: key)
        }
        request.call = call
        let link = try await dependencies.signInWithApple.linkApple(request, context: exchange.changingCall)
        return Response(Document("link", AutoSignInDocuments.link(link)), format: .json)
    }

    /// `linkId` in the query names one of several links.
    @Sendable func unlink(_ exchange: Exchange) async throws -> Response {
        var (call, request) = try await reader.device(exchange) { exchange throws(Fault) in
            let key = try IdempotencyKey.required(exchange)
            return UnlinkAppleRequest(linkID: try exchange.value("linkId") ?? "", idempotencyKey: key)
        }
        request.caller = Caller(who: .device(call))
        _ = try await dependencies.signInWithApple.unlinkApple(request, context: exchange.changingCall)
        return .empty(.noContent)
    }

    /// The person has to decide something first (apple §2.8).
    private func reply(_ ticket: TicketIssued, _ exchange: Exchange) -> Response {
        let (row, message) =
            ticket.code == "account_exists"
            ? (AutoSignInErrors.accountExists, "There is an account with this e-mail address: sign in to it, then link it with the ticket.")
            : (AutoSignInErrors.confirmationRequired, "A new account would be made: ask the person, then repeat with the ticket and createAccount.")
        return AutoSignInFace().reply(
            row, message: message, exchange.facts,
            more: [.init("ticket", .text(ticket.ticket)), .init("expiresAt", .number(ticket.expiresAtMilliseconds))])
    }

    private static func reply(_ signedIn: AppleSignedIn) -> Response {
        let policy = signedIn.realUserPolicy == .skipChecks ? "skip_checks" : "extra_checks"
        let members = AutoSignInDocuments.session(signedIn.session ?? StreamingSession())
        return Response(
            Document("session", members + [.init("isNew", .flag(signedIn.isNew)), .init("realUserPolicy", .text(policy))]), format: .json)
    }
}

/// Apple's servers tell of an account here (apple §2.9).
struct NotificationEndpoint: Sendable {
    let signInWithApple: any SignInWithApple
    let throttle: NotificationThrottle

    /// 200 once the effect is durable: Apple repeats on anything else.
    @Sendable func receive(_ exchange: Exchange) async throws -> Response {
        do { return try await take(exchange) } catch let fault as Fault where fault.code == .appleNotificationInvalid {
            guard let seconds = throttle.charge(exchange.facts.clientAddress) else { throw fault }
            return Response.tooManyRequests(retryAfter: seconds)
        }
    }

    private func take(_ exchange: Exchange) async throws -> Response {
        let payload: String
        // The content type does not matter: only the signature counts.
        do { payload = try AppBody(Array(exchange.body.readableBytesView)).text("payload") } catch {
            throw Fault(.appleNotificationInvalid, error.message)
        }
        _ = try await signInWithApple.receiveNotification(AppleNotification(payload: payload), context: exchange.changingCall)
        return .empty(.ok)
    }
}

/// The proof that an app got from Apple, or the ticket that stands for it (apple §2.8).
struct AppleProof {
    let identityToken: String
    let code: String
    let nonce: String
    let clientID: String
    let user: FirstTimeUser?
    let ticket: String

    /// - Throws: `invalid_request` naming what is missing; a ticket needs nothing beside it.
    init(_ body: AppBody) throws(Fault) {
        ticket = try body.optionalText("ticket")
        let hasTicket = !ticket.isEmpty
        identityToken = hasTicket ? "" : try body.text("identityToken")
        nonce = hasTicket ? "" : try body.text("nonce")
        clientID = hasTicket ? try body.optionalText("clientId") : try body.text("clientId")
        code = hasTicket ? "" : try body.optionalText("code")
        user = hasTicket ? nil : try Self.user(body)
    }

    /// `{"name":{"firstName","lastName"},"email"}`, each part optional (apple §2.7).
    private static func user(_ body: AppBody) throws(Fault) -> FirstTimeUser? {
        guard let user = try body.object("user") else { return nil }
        let name = try user.object("name")
        return FirstTimeUser(
            givenName: try name?.optionalText("firstName") ?? "", familyName: try name?.optionalText("lastName") ?? "",
            email: try user.optionalText("email"))
    }
}

/// The face of Automatic Sign-In and Sign in with Apple: always JSON, always the object of rest-v2 §3.
struct AutoSignInFace: Face {
    func reply(to error: any Error, _ fault: Fault, _ exchange: Exchange) -> Response {
        let row = AutoSignInErrors.row(for: fault.code)
        var response = reply(row, message: Self.message(fault, row), details: fault.details, exchange.facts)
        if response.status == .tooManyRequests { response.headers[.retryAfter] = String(fault.retrySeconds) }
        if row.action == "application-registration" { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }

    private static func message(_ fault: Fault, _ row: ErrorTable.Row) -> String {
        switch row.statuses[0] {
        case 500: "An internal fault occurred."
        case 503 where fault.code.isTransient: "The service is temporarily unavailable."
        default: fault.message
        }
    }

    func reply(to problem: BodyRejection, _ exchange: Exchange) -> Response {
        let (row, message) =
            switch problem {
            case .tooLarge: (AutoSignInErrors.requestTooLarge, "The body is too large.")
            case .tooSlow: (AutoSignInErrors.requestTimeout, "The body took too long.")
            case .broken: (AutoSignInErrors.invalidRequest, "The body did not come as its head said.")
            }
        return reply(row, message: message, exchange.facts)
    }

    func methodNotAllowed(_ exchange: Exchange) -> Response {
        reply(AutoSignInErrors.methodNotAllowed, message: "Method Not Allowed", exchange.facts)
    }

    func notFound(_ request: Request, _ facts: RequestFacts) -> Response {
        reply(AutoSignInErrors.notFound, message: "There is no such address.", facts)
    }

    func overloaded(_ request: OverloadedRequest) -> (HTTPFields, ByteBuffer) {
        let document = ErrorDocument.enhanced(AutoSignInErrors.row(for: .overloaded), request, trace: request.trace)
        return (.unstored(ReplyFormat.json.contentType), document.body(.json))
    }

    /// - Parameter more: Members beyond the common ones.
    func reply(_ row: ErrorTable.Row, message: String, details: String? = nil, _ facts: RequestFacts, more: [Document.Member] = []) -> Response {
        let status = AutoSignInErrors.status(row)
        let document = ErrorDocument.enhanced(
            action: row.action, status: status.code, code: row.code, message: message, details: details, help: facts.host.help(row.code),
            trace: facts.trace.traceID)
        return Response(Document("error", document.members + more), format: .json, status: status)
    }
}

/// The face of Apple's servers, which read nothing but the status (apple §2.9).
struct NotificationFace: Face {
    func reply(to error: any Error, _ fault: Fault, _ exchange: Exchange) -> Response {
        var response = Response.empty(AutoSignInErrors.status(AutoSignInErrors.row(for: fault.code)))
        if response.status == .tooManyRequests { response.headers[.retryAfter] = String(fault.retrySeconds) }
        return response
    }

    func reply(to problem: BodyRejection, _ exchange: Exchange) -> Response { .empty(problem.status) }

    func methodNotAllowed(_ exchange: Exchange) -> Response { .empty(.methodNotAllowed) }

    func overloaded(_ request: OverloadedRequest) -> (HTTPFields, ByteBuffer) { ([.cacheControl: "no-store"], ByteBuffer()) }
}
