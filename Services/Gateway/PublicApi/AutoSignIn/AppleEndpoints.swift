internal import Contracts
internal import Faults
internal import Hummingbird

/// Sign in with Apple for devices (apple §2, §4).
struct AppleEndpoints: Sendable {
    let dependencies: Dependencies
    let reader: AppCallReader
    let refusals: Refusals

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
        return refusals.autoSignInReply(
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
