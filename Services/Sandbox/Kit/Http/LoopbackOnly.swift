internal import Hummingbird

/// Refuses callers from other machines, unless the settings trust private networks.
struct LoopbackOnly: RouterMiddleware {
    func handle(
        _ input: Request, context: SandboxContext, next: (Request, SandboxContext) async throws -> Response
    ) async throws -> Response {
        guard context.isTrusted else { throw HTTPError(.forbidden) }
        // A page of any site can make a browser on this machine call one of its ports.
        if input.uri.path.utf8.starts(with: "/control".utf8) {
            guard Self.comesFromAProgram(input), Self.isNamedLocally(input.head.authority ?? "") else {
                throw HTTPError(.forbidden, message: "/control is for programs on this machine, by its own names")
            }
        }
        return try await next(input, context)
    }

    /// Browsers send with each request which site made it.
    private static func comesFromAProgram(_ request: Request) -> Bool {
        guard request.headers[.origin] == nil else { return false }
        let site = request.headers.first { $0.name.canonicalName == "sec-fetch-site" }?.value
        return site.map { $0 == "none" || $0 == "same-origin" } ?? true
    }

    /// An address, `localhost`, or a name without a dot, as containers have them: a registered domain name may lead here by DNS rebinding.
    static func isNamedLocally(_ authority: String) -> Bool {
        if authority.isEmpty || authority.hasPrefix("[") { return true }
        let host = authority.prefix { $0 != ":" }
        return !host.contains(".") || host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
    }
}

/// Marks each request with whether callers of private networks are trusted.
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
