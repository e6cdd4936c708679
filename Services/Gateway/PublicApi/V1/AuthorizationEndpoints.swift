internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// Authz tokens and short media tokens (rest-v1 §3.14, §3.15, §3.18).
struct AuthorizationEndpoints: Sendable {
    let dependencies: Dependencies
    let reader: DeviceCallReader
    /// Of media tokens: signatures are what authorization has no room for.
    private let pressure = Backpressure()

    init(dependencies: Dependencies, reader: DeviceCallReader) {
        self.dependencies = dependencies
        self.reader = reader
    }

    @Sendable func authorize(_ exchange: Exchange) async throws -> Response {
        let (call, request) = try await reader.read(exchange) { exchange throws(Fault) in
            AuthorizeRequest(
                resource: try Self.resource(exchange), mvpd: try exchange.value("mvpd") ?? "", genericData: try exchange.value("generic_data") ?? "")
        }
        var complete = request
        complete.call = call
        let decision = try await dependencies.authorization.authorize(complete, context: exchange.changingCall)
        return Response(Self.document(decision), format: exchange.format)
    }

    @Sendable func token(_ exchange: Exchange) async throws -> Response {
        let decision = try await dependencies.authorization.getAuthorization(try await request(exchange), context: exchange.call)
        return Response(Self.document(decision), format: exchange.format)
    }

    @Sendable func mediaToken(_ exchange: Exchange) async throws -> Response {
        let token = try await issue(try await request(exchange), exchange)
        return Response(
            Document(
                "play",
                [
                    .init("requestor", .text(token.requestor)), .init("resource", .text(token.resource)),
                    .init("mvpdId", .text(token.mvpd)), .init("userId", .text(token.userID)),
                    .init("expires", .text(String(token.expiresAtMilliseconds))), .init("serializedToken", .text(token.serializedToken)),
                ]), format: exchange.format)
    }

    /// - Throws: `too_many_requests`, `overloaded`, and what the service throws.
    func issue(_ request: ResourceRequest, _ exchange: Exchange) async throws -> MediaToken {
        try await pressed(exchange) { try await dependencies.authorization.issueMediaToken(request, context: exchange.changingCall) }
    }

    private func pressed(_ exchange: Exchange, _ call: () async throws -> MediaToken) async throws -> MediaToken {
        guard let id = exchange.namedRequestor, let requestor = try? dependencies.catalogue.current().requestor(id) else { return try await call() }
        return try await pressure.passing(requestor.id, call)
    }

    private func request(_ exchange: Exchange) async throws -> ResourceRequest {
        let (call, resource) = try await reader.read(exchange) { exchange throws(Fault) in try Self.resource(exchange) }
        return ResourceRequest(call: call, resource: resource)
    }

    private static func resource(_ exchange: Exchange) throws(Fault) -> String {
        do { return try exchange.required("resource") } catch { throw Fault(.missingResource, error.message) }
    }

    private static func document(_ decision: Decision) -> Document {
        var members: [Document.Member] = [
            .init("mvpd", .text(decision.mvpd)), .init("resource", .text(decision.resource)), .init("requestor", .text(decision.requestor)),
            .init("expires", .text(String(decision.expiresAtMilliseconds))),
        ]
        if !decision.proxyMvpd.isEmpty { members.append(.init("proxyMvpd", .text(decision.proxyMvpd))) }
        return Document("authorization", members)
    }
}
