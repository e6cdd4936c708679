internal import Faults
internal import Hummingbird
internal import Logging
internal import NIOCore

/// The outermost layer: identifies each request, routes it, and accounts for the reply.
struct Edge: HTTPResponder {
    let router: RouterResponder<GatewayContext>
    let refusals: Refusals
    let metrics: RequestMetrics
    let trustedProxies: [AddressRange]
    let throttle: Throttle
    /// True on the listener of HTTPS.
    let isSecure: Bool
    /// Value of `Strict-Transport-Security` (RFC 6797); `nil` on plain HTTP.
    let transportSecurity: String?
    let logger: Logger

    func respond(to request: Request, context: GatewayContext) async throws -> Response {
        let start = ContinuousClock.now
        var context = context
        context.facts = RequestFacts(request, peer: context.peer, trusted: trustedProxies)
        context.logger = logger
        context.facts.isSecure = isSecure
        var (response, route) = try await answer(request, context)
        response.headers[.adobeRequestID] = context.facts.requestID
        response.headers[.xContentTypeOptions] = "nosniff"
        // Addresses of requests hold codes, and on a web view's logout the bearer (rest-v1 §3.20).
        response.headers[.referrerPolicy] = "no-referrer"
        if let transportSecurity { response.headers[.strictTransportSecurity] = transportSecurity }
        account(request, response, route: route, facts: context.facts, spent: start.duration(to: .now))
        return response
    }

    /// The same, ready to be written.
    func reply(to request: Request, context: GatewayContext) async -> Http1Conversation.Reply {
        do {
            let response = try await respond(to: request, context: context)
            return Http1Conversation.Reply(head: response.head, body: try await CollectedBody.bytes(of: response))
        } catch {
            logger.error("request.failed", metadata: ["error": "\(error)"])
            return Http1Conversation.Reply(
                head: HTTPResponse(status: .internalServerError, headerFields: [.contentLength: "0"]), body: ByteBuffer())
        }
    }

    /// - Returns: The answer and the route's label.
    private func answer(_ request: Request, _ context: GatewayContext) async throws -> (Response, route: String) {
        // Before everything else (rest-v1 §2.8).
        if ThrottledPaths.applies(to: request.method, context.facts.path), !throttle.admits(context.facts.clientAddress) {
            return (Refusals.tooManyRequests(retryAfter: 1), "throttled")
        }
        let response = try await router.respond(to: context.facts.routed(request), context: context)
        // The router answers an unknown path itself and leaves this mark.
        guard let route = context.endpointPath, route != "NotFound" else {
            return (refusals.notFound(request, facts: context.facts), "other")
        }
        return (response, route)
    }

    private func account(_ request: Request, _ response: Response, route: String, facts: RequestFacts, spent: Duration) {
        let method = Route.knownMethods.contains(request.method) ? request.method.rawValue : "other"
        metrics.record(method: method, route: route, status: response.status.code, spent: spent)
        logger.info(
            "request",
            metadata: [
                "trace_id": .string(facts.trace.traceID), "request": .string(facts.requestID), "method": .string(method), "route": .string(route),
                "status": .string(String(response.status.code)),
                "duration_us": .string(String(spent.components.seconds * 1_000_000 + spent.components.attoseconds / 1_000_000_000_000)),
            ])
    }
}
