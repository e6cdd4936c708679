internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

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
