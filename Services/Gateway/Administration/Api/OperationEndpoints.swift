internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// What administrators do with clients and trials: config says who may, authentication does it.
struct OperationEndpoints: Sendable {
    let administration: any Administration
    let operations: any AuthenticationOperations

    @Sendable func resetTempPass(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let (request, subject) = try Self.reset(exchange)
        let check = CheckAdministratorRequest(
            token: token, permission: .resetTempPass, requestorID: request.requestor, mvpdID: request.mvpd, subject: subject)
        _ = try await administration.checkAdministrator(check, context: exchange.changingCall)
        let outcome = try await operations.resetTempPass(request, context: exchange.changingCall)
        return Response(Document("reset", [.init("trials", .number(Int64(outcome.trials)))]), format: .json)
    }

    @Sendable func revokeClient(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let client = try exchange.captured("client")
        let check = CheckAdministratorRequest(token: token, permission: .revokeClient, subject: client)
        _ = try await administration.checkAdministrator(check, context: exchange.changingCall)
        let outcome = try await operations.revokeClient(RevokeClientRequest(clientID: client), context: exchange.changingCall)
        guard outcome.wasKnown else { throw AdministrationError.notFound("There is no such client.") }
        return .empty(.noContent)
    }

    private static func reset(_ exchange: Exchange) throws -> (request: ResetTempPassRequest, subject: String) {
        let (requestor, mvpd, device, key) = try AdministrationBody.object(exchange) {
            ($0.text("requestor"), $0.text("mvpd"), $0.optionalText("device"), $0.optionalText("key"))
        }
        guard device.isEmpty || key.isEmpty else {
            throw AdministrationError.invalid([FieldProblem(field: "key", message: "is not allowed together with device")])
        }
        let everyone = [device, key].allSatisfy { $0.isEmpty || $0 == "all" }
        // The audit log must not become a list of devices and people.
        let subject = everyone ? "everyone" : "\(key.isEmpty ? "device" : "identifier") \((device + key).prefix(4))…"
        let scope: ResetTempPassRequest.Scope = key.isEmpty ? .deviceID(device) : .key(key)
        return (ResetTempPassRequest(requestor: requestor, mvpd: mvpd, scope: scope), subject)
    }
}
