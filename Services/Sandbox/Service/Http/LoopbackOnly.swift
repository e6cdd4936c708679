internal import Hummingbird

/// Refuses callers from other machines.
struct LoopbackOnly: RouterMiddleware {
    func handle(
        _ input: Request, context: SandboxContext, next: (Request, SandboxContext) async throws -> Response
    ) async throws -> Response {
        guard context.isLoopback else { throw HTTPError(.forbidden) }
        return try await next(input, context)
    }
}
