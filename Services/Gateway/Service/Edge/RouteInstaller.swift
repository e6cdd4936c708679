internal import Faults
internal import Hummingbird
internal import NIOCore

/// Puts routes into the router, with what all of them share: bodies, preflights, 405, faults, CORS.
struct RouteInstaller {
    let dependencies: Dependencies
    let refusals: Refusals

    func install(_ routes: [Route]) -> Router<GatewayContext> {
        let router = Router(context: GatewayContext.self)
        for route in routes {
            for method in Route.knownMethods {
                router.on(RouterPath(route.path), method: method) { request, context in
                    await respond(request, context, route)
                }
            }
        }
        return router
    }

    private func respond(_ request: Request, _ context: GatewayContext, _ route: Route) async -> Response {
        guard request.method != .options else { return preflight(request, context, route) }
        guard let handler = route.handlers[request.method] else {
            return refusals.methodNotAllowed(exchange(request, context, route), allow: route.allowed)
        }
        let body: ByteBuffer
        // What a GET says stands in its query (rest-v1 §2.3).
        let rule = request.method == .get && route.handlers[.post] != nil ? .ignored : route.body
        do { body = try await read(request, context.body, rule) } catch {
            return refusals.badBody(error, exchange(request, context, route))
        }
        let exchange = exchange(request, context, route, body: body)
        var response = await answer(exchange, route, handler)
        crossOrigin(exchange).apply(to: &response)
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(_ exchange: Exchange, _ route: Route, _ handler: Route.Handler) async -> Response {
        do {
            guard route.takesCode else { return try await handler(exchange) }
            return try await dependencies.codes.tryingCode(of: exchange) { try await handler(exchange) }
        } catch let pause as CodePause {
            return Refusals.tooManyRequests(retryAfter: pause.seconds)
        } catch {
            return refusals.reply(to: error, exchange)
        }
    }

    private func preflight(_ request: Request, _ context: GatewayContext, _ route: Route) -> Response {
        var response = Response(status: .noContent, headers: [.allow: route.allowed])
        crossOrigin(exchange(request, context, route)).apply(to: &response, isPreflight: true)
        return response
    }

    private func exchange(_ request: Request, _ context: GatewayContext, _ route: Route, body: ByteBuffer = ByteBuffer()) -> Exchange {
        Exchange(request, context: context, route: route, body: body, timeout: dependencies.settings.requestTimeout)
    }

    private func crossOrigin(_ exchange: Exchange) -> CrossOrigin {
        guard case .api = exchange.audience, let origin = exchange.headers[.origin], let id = exchange.namedRequestor else {
            return CrossOrigin(origin: nil, domains: [])
        }
        let domains = (try? dependencies.catalogue.current())?.requestor(id)?.domains.map(\.name) ?? []
        return CrossOrigin(origin: origin, domains: domains)
    }

    private func read(_ request: Request, _ whole: ByteBuffer?, _ rule: Route.BodyRule) async throws -> ByteBuffer {
        let settings = dependencies.settings
        let reader = BodyReader(timeout: settings.bodyTimeout)
        return switch rule {
        case .ignored: ByteBuffer()
        case .form, .raw: try await reader.read(request, whole: whole, limit: settings.maximumBodyBytes)
        case .document: try await reader.read(request, whole: whole, limit: 1 << 20)
        case .assertion: try await reader.read(request, whole: whole, limit: settings.maximumAssertionBytes)
        }
    }
}
