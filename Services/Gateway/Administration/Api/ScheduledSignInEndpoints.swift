internal import Catalogue
internal import Contracts
internal import Hummingbird

/// How the latest scheduled sign-in of each MVPD ended (Shared/Documents/Decisions/0085).
struct ScheduledSignInEndpoints: Sendable {
    static let path = "/admin/v1/scheduled-sign-ins"

    let administration: any Administration
    let reader: SignInReader

    @Sendable func list(_ exchange: Exchange) async throws -> Response {
        let check = CheckAdministratorRequest(token: try exchange.administrator(), permission: .read)
        let administrator = try await administration.checkAdministrator(check, context: exchange.call)
        let items = try await reader.scheduled(for: administrator, exchange).map { Document.Value.object(Self.members($0)) }
        return Response(Document("scheduledSignIns", [.init("scheduledSignIns", .list(items, item: "scheduledSignIn"))]), format: .json)
    }

    private static func members(_ state: ScheduledSignInState) -> [Document.Member] {
        let result = state.endedAtMilliseconds == 0 ? "waiting" : state.failedStep.isEmpty ? "succeeded" : "failed"
        let steps = state.steps.map { step in
            Document.Value.object([.init("name", .text(step.name)), .init("milliseconds", .number(Int64(step.durationMilliseconds)))])
        }
        return [
            .init("mvpd", .text(state.mvpd)), .init("requestor", .text(state.requestor)), .init("result", .text(result)),
            .init("trace", .optional(state.traceID)), .init("endedAt", .number(state.endedAtMilliseconds)),
            .init("failedStep", .optional(state.failedStep)), .init("reason", .optional(state.reason)),
            .init("explanation", .optional(state.explanation)), .init("steps", .list(steps, item: "step")),
            .init("failures", .number(Int64(state.failures))), .init("failingSince", .number(state.failingSinceMilliseconds)),
        ]
    }
}
