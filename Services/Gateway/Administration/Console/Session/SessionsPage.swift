internal import Contracts
internal import Faults
internal import Hummingbird

/// The sessions that an administrator may end.
struct SessionsPage: Sendable {
    let console: Console

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let list = try await console.administration.listSessions(ListSessionsRequest(token: visitor.secret), context: exchange.call)
        let rows = list.sessions.map { session -> [String: Any] in
            [
                "sessionId": session.id, "sessionName": session.name, "sessionClient": session.client.isEmpty ? "–" : session.client,
                "openedAt": Moment(milliseconds: session.openedAtMilliseconds).text, "usedAt": Moment(milliseconds: session.usedAtMilliseconds).text,
                "endsAt": Moment(milliseconds: session.endsAtMilliseconds).text, "isOwn": session.isOwn,
            ]
        }
        let content: [String: Any] = ["sessions": rows, "hasEnded": try exchange.value("ended") != nil]
        return await console.page("sessions", "Sessions", in: .sessions, content, for: visitor, exchange)
    }

    @Sendable func end(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let request = EndSessionRequest(token: visitor.secret, id: try exchange.required("id"))
        // One that is over already needs no end.
        do { _ = try await console.administration.endSession(request, context: exchange.changingCall) } catch let fault as Fault
            where fault.code == .notFound
        {}
        return Console.seeOther(Console.address("sessions", query: ["ended": "1"]))
    }
}
