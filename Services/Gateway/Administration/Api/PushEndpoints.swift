internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// Pushes that wait for a second person (dashboard §4).
struct PushEndpoints: Sendable {
    static let path = "\(EntityCollection.base)/pushes"

    let administration: any Administration
    let operations: any AuthenticationOperations

    @Sendable func list(_ exchange: Exchange) async throws -> Response {
        let request = ListPendingPushesRequest(token: try exchange.administrator())
        let pending = try await administration.listPendingPushes(request, context: exchange.call)
        return Response(Document("pushes", [.init("pushes", .list(pending.pushes.map(AdministrationDocuments.push), item: "push"))]), format: .json)
    }

    @Sendable func approve(_ exchange: Exchange) async throws -> Response { try await decide(exchange, approve: true) }

    @Sendable func decline(_ exchange: Exchange) async throws -> Response { try await decide(exchange, approve: false) }

    private func decide(_ exchange: Exchange, approve: Bool) async throws -> Response {
        let (token, push) = (try exchange.administrator(), try exchange.captured("push"))
        let secrets = approve ? await SecretInventory.asked(of: operations, for: exchange) : nil
        let request = DecidePushRequest(token: token, id: push, approve: approve, secrets: secrets)
        return try Self.reply(try await administration.decidePush(request, context: exchange.changingCall))
    }

    static func reply(_ outcome: PushOutcome) throws -> Response {
        switch outcome.outcome {
        case .version(let version):
            var response = Response(Document("version", AdministrationDocuments.version(version)), format: .json, status: .accepted)
            response.headers[.location] = VersionEndpoints.address(of: version.version)
            return response
        case .pending(let push):
            var response = waiting(push, "waiting", status: .accepted)
            response.headers[.location] = path
            return response
        case .declined(let push): return waiting(push, "declined", status: .ok)
        case .refusal(let refusal): throw AdministrationError(refusal)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
    }

    private static func waiting(_ push: PendingPush, _ status: String, status code: HTTPResponse.Status) -> Response {
        Response(
            Document("push", [.init("version", .null), .init("status", .text(status)), .init("push", AdministrationDocuments.push(push))]),
            format: .json, status: code)
    }
}
