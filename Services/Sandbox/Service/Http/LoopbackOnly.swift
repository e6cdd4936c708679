internal import Hummingbird

/// Refuses callers from other machines, unless the settings trust private networks.
struct LoopbackOnly: RouterMiddleware {
    func handle(
        _ input: Request, context: SandboxContext, next: (Request, SandboxContext) async throws -> Response
    ) async throws -> Response {
        guard context.isTrusted else { throw HTTPError(.forbidden) }
        return try await next(input, context)
    }
}

/// Says of each request whether callers of private networks are trusted.
struct PrivateNetworkTrust: RouterMiddleware {
    let trustsPrivateNetworks: Bool

    func handle(
        _ input: Request, context: SandboxContext, next: (Request, SandboxContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.trustsPrivateNetworks = trustsPrivateNetworks
        return try await next(input, context)
    }
}
