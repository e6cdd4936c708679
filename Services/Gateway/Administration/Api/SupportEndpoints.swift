internal import Contracts
internal import GatewayEdge
internal import Hummingbird

/// A viewer's sessions, for support. Ids come in the body: an address is written down in too many places.
struct SupportEndpoints: Sendable {
    static let path = "/admin/v1/support/sessions"

    let controller: SupportController

    @Sendable func find(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let (viewer, _) = try Self.question(exchange, endsSessions: false)
        return Response(Self.document(try await controller.find(viewer, by: token, exchange)), format: .json)
    }

    @Sendable func end(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let (viewer, session) = try Self.question(exchange, endsSessions: true)
        let ended = try await controller.end(session == "all" ? "" : session, of: viewer, by: token, exchange)
        return Response(Document("support", [.init("ended", .number(Int64(ended)))]), format: .json)
    }

    private static func question(
        _ exchange: Exchange, endsSessions: Bool
    ) throws -> (viewer: FindViewerSessionsRequest, session: String) {
        let (requestor, mvpd, ids, session) = try AdministrationBody.object(exchange) { body in
            (
                body.text("requestor"), body.optionalText("mvpd"), ViewerKind.allCases.map { ($0, body.optionalText($0.rawValue)) },
                endsSessions ? body.text("session") : ""
            )
        }
        let given = ids.filter { !$0.1.isEmpty }
        guard let (kind, value) = given.first, given.count == 1 else {
            throw AdministrationError.invalid([FieldProblem(field: "device", message: "give one of code, device and user")])
        }
        guard ViewerKind.isGood(value) else {
            throw AdministrationError.invalid([FieldProblem(field: kind.rawValue, message: "must have 1 to 512 octets without controls")])
        }
        guard kind != .user || !mvpd.isEmpty else {
            throw AdministrationError.invalid([FieldProblem(field: "mvpd", message: "is required with user")])
        }
        guard !endsSessions || ViewerKind.isGood(session) else {
            throw AdministrationError.invalid([FieldProblem(field: "session", message: "must be a session's id, or all")])
        }
        return (FindViewerSessionsRequest(requestor: requestor, mvpd: mvpd, viewer: kind.named(value)), session)
    }

    private static func document(_ found: SupportController.Found) -> Document {
        let sessions = found.viewer.sessions.map { session in
            Document.Value.object([
                .init("id", .text(session.id)), .init("mvpd", .text(session.mvpd)), .init("way", .text(word(session.kind))),
                .init("authenticatedAt", .number(session.authenticatedAtMilliseconds)),
                .init("createdAt", .number(session.createdAtMilliseconds)), .init("expiresAt", .number(session.expiresAtMilliseconds)),
                .init("device", .text(session.devicePrefix + "…")), .init("deviceType", .optional(session.deviceType)),
                .init("deviceModel", .optional(session.deviceModel)), .init("os", .optional(session.osName)),
                .init("lastRefusal", found.refusal(of: session).map(refusal) ?? .null),
            ])
        }
        let code = found.viewer.code.map { code in
            Document.Value.object([
                .init("createdAt", .number(code.createdAtMilliseconds)), .init("expiresAt", .number(code.expiresAtMilliseconds)),
                .init("used", .flag(code.isUsed)),
            ])
        }
        return Document(
            "viewer",
            [
                .init("sessions", .list(sessions, item: "session")), .init("more", .flag(found.viewer.hasMore)), .init("code", code ?? .null),
                .init("refusalsKnown", .flag(found.refusals != nil)),
            ])
    }

    private static func refusal(_ refusal: SessionRefusal) -> Document.Value {
        .object([
            .init("at", .number(refusal.refusedAtMilliseconds)), .init("code", .text(refusal.code)),
            .init("source", .text(RefusalText.source(refusal.source))), .init("reason", .text(RefusalText.sentence(refusal))),
        ])
    }

    private static func word(_ kind: SessionKind) -> String {
        switch kind {
        case .regular: "signIn"
        case .platform: "platform"
        case .tempPass: "tempPass"
        case .degraded: "degraded"
        case .shared: "shared"
        case .automatic: "automatic"
        case .serviceToken: "serviceToken"
        case .unrecognized: "other"
        }
    }
}
