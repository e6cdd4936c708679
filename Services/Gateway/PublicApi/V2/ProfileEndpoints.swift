internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// `/api/v2/{serviceProvider}/profiles` and logout (rest-v2 §2.6 to §2.8, §2.11).
struct ProfileEndpoints: Sendable {
    let dependencies: Dependencies
    let reader: AppCallReader

    @Sendable func list(_ exchange: Exchange) async throws -> Response {
        let call = try await reader.device(exchange) { _ throws(Fault) in }.call
        return try await reply(FindProfilesRequest(call: call), exchange)
    }

    @Sendable func show(_ exchange: Exchange) async throws -> Response {
        let (call, mvpd) = try await reader.device(exchange) { exchange throws(Fault) in try V2Fields.mvpd(exchange) }
        return try await reply(FindProfilesRequest(call: call, mvpd: mvpd, identity: V2Fields.identity(exchange)), exchange)
    }

    @Sendable func showByCode(_ exchange: Exchange) async throws -> Response {
        let (token, requestor, code) = try await reader.client(exchange) { exchange throws(Fault) in try V2Fields.code(exchange) }
        let device = exchange.headers[values: .apDeviceIdentifier].isEmpty ? "" : (try? DeviceIdentifier.sent(exchange)) ?? ""
        let request = SessionByCodeRequest(accessToken: token, requestor: requestor, code: code, deviceID: device, api: .v2)
        return reply(try await dependencies.authentication.findProfilesByCode(request, context: exchange.call), exchange)
    }

    private func reply(_ request: FindProfilesRequest, _ exchange: Exchange) async throws -> Response {
        reply(try await dependencies.authentication.findProfiles(request, context: exchange.call), exchange)
    }

    private func reply(_ profiles: Profiles, _ exchange: Exchange) -> Response {
        Response(ProfileDocument(facts: exchange.facts).document(profiles), format: .json)
    }

    // MARK: Logout

    @Sendable func logout(_ exchange: Exchange) async throws -> Response {
        let (call, sent) = try await reader.device(exchange) { exchange throws(Fault) in
            (mvpd: try V2Fields.mvpd(exchange), redirectURL: try V2Fields.field("redirectUrl", exchange))
        }
        let ended = try await dependencies.authentication.endProfile(
            EndProfileRequest(call: call, mvpd: sent.mvpd, redirectURL: sent.redirectURL), context: exchange.changingCall)
        let (name, type) = Self.action(ended.end)
        var members: [Document.Member] = [
            .init("actionName", .text(name)), .init("actionType", .text(type)), .init("mvpd", .text(sent.mvpd)),
        ]
        if ended.end == .visit { members.append(.init("url", .text(ended.visitURL))) }
        return Response(Document("logouts", [.init("logouts", .object([.init(sent.mvpd, .object(members))]))]), format: .json)
    }

    private static func action(_ end: ProfileEnd) -> (name: String, type: String) {
        switch end {
        case .visit: ("logout", "interactive")
        case .platform: ("partner_logout", "partner_interactive")
        case .complete: ("complete", "none")
        case .none, .unrecognized: ("invalid", "none")
        }
    }
}
