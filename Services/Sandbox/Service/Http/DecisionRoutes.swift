internal import Clocks
internal import Hummingbird
internal import NIOCore
internal import ServiceLifecycle

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The decision points, and the ways in which they are told to fail.
struct DecisionRoutes: Sendable {
    private static let largestRequest = 256 * 1024

    let providers: [String: IdentityProvider]
    let clock: any WallClock
    let log: RequestLog
    let disturbances: Disturbances

    func add(to router: Router<SandboxContext>) {
        router.post("/pdp/{mvpd}") { request, context in try await decide(request, context) }
    }

    private func decide(_ request: Request, _ context: SandboxContext) async throws -> Response {
        guard let provider = providers[try context.parameters.require("mvpd")] else { throw HTTPError(.notFound) }
        log.count("pdp", mvpd: provider.id)
        let disturbance = disturbances.take(for: provider.id)
        if disturbance.mode == .hang || disturbance.delay > .zero {
            return try await late(disturbance, request, provider, context)
        }
        return try await act(disturbance, body: request.body, request, provider, context)
    }

    /// Answers after a while; ends early when the caller leaves or the stand-in stops.
    private func late(
        _ disturbance: Disturbance, _ request: Request, _ provider: IdentityProvider, _ context: SandboxContext
    ) async throws -> Response {
        do {
            return try await cancelWhenGracefulShutdown {
                try await request.body.consumeWithCancellationOnInboundClose { body in
                    try await Task.sleep(for: disturbance.mode == .hang ? .seconds(86_400) : disturbance.delay)
                    return try await act(disturbance, body: body, request, provider, context)
                }
            }
        } catch let cancellation as CancellationError {
            note(provider, "abandoned")
            throw cancellation
        }
    }

    private func act(
        _ disturbance: Disturbance, body: RequestBody, _ request: Request, _ provider: IdentityProvider, _ context: SandboxContext
    ) async throws -> Response {
        switch disturbance.mode {
        case .none, .hang:
            let octets = Array(buffer: try await body.collect(upTo: Self.largestRequest))
            return try answer(octets, request, provider, disturbance)
        case .error:
            note(provider, "error")
            return Response(status: .internalServerError)
        case .reset:
            note(provider, "reset")
            try await Self.reset(context.channel)
            return Response(status: .internalServerError)
        case .malformed:
            note(provider, "malformed")
            return Self.json(Array(#"{"Response":[{"Decision":"#.utf8))
        }
    }

    private func answer(
        _ octets: [UInt8], _ request: Request, _ provider: IdentityProvider, _ disturbance: Disturbance
    ) throws -> Response {
        guard Self.isXacml(request.headers[.contentType]) else {
            note(provider, "refused", ["reason": "content type"])
            throw HTTPError(.unsupportedMediaType, message: "The content type must be \(XacmlNames.mediaType)")
        }
        let question: XacmlRequest
        do {
            question = try XacmlRequest(json: octets)
        } catch {
            note(provider, "refused", ["reason": "\(error)"])
            throw HTTPError(.badRequest, message: "\(error)")
        }
        let answer = disturbance.shape.applied(
            to: DecisionPoint(subscribers: provider.subscribers).decide(question, reauthorizeAfter: disturbance.reauthorizeAfter),
            asked: question.resources, channels: provider.subscribers.channels)
        let decisions = answer.results.map(\.decision.rawValue).joined(separator: ",")
        let person = question.subject.flatMap(provider.subscribers.person(subject:))?.name ?? ""
        note(provider, decisions, ["person": person, "resources": question.resources.map(\.identifier).joined(separator: ",")])
        return Self.json(try answer.serialized())
    }

    private func note(_ provider: IdentityProvider, _ outcome: String, _ fields: [String: String] = [:]) {
        log.note("pdp", mvpd: provider.id, outcome: outcome, fields: fields, at: clock.now())
    }

    private static func isXacml(_ type: String?) -> Bool {
        type?.split(separator: ";").first?.lowercased() == XacmlNames.mediaType
    }

    private static func json(_ octets: [UInt8]) -> Response {
        Response(status: .ok, headers: [.contentType: XacmlNames.mediaType], body: ResponseBody(byteBuffer: ByteBuffer(bytes: octets)))
    }

    // With a linger time of zero the system sends RST instead of FIN.
    private static func reset(_ channel: any Channel) async throws {
        if let options = channel as? any SocketOptionProvider {
            try await options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        try await channel.close().get()
    }
}
