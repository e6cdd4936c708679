internal import Faults
internal import Hummingbird

/// `/adobe-services/1.0/…`: the addresses of the first native SDKs, which later ones used too (clients §3).
struct NativeCalls: Sendable {
    /// Serves a call that stands on a bearer as the newer call of the same name.
    func standingOnBearer(_ handler: @escaping Route.Handler) -> Route.Handler {
        { exchange in
            let isSent = exchange.headers[.authorization] != nil || !exchange.lacks("access_token")
            return isSent ? try await handler(exchange) : Self.gone(exchange)
        }
    }

    /// Serves a call that stands on a registration code.
    func standingOnCode(_ handler: @escaping Route.Handler) -> Route.Handler {
        { exchange in exchange.lacks("reg_code") ? Self.gone(exchange) : try await handler(exchange) }
    }

    private static func gone(_ exchange: Exchange) -> Response {
        Response(
            ErrorDocument.plain(
                status: 410, message: "Gone",
                details:
                    "This is a call of the first native SDKs, which keep a sign-in in cookies. Served are calls with a registration code and an access token."
            ),
            format: .xml, status: .gone)
    }
}
