internal import Contracts
internal import Faults
internal import Hummingbird
internal import NIOCore

/// Sign-in by a platform's own framework (rest-v1 §3.12, §3.13).
struct PlatformEndpoints: Sendable {
    let dependencies: Dependencies
    let reader: DeviceCallReader

    private static let exchangeRules = DeviceCallReader.Rules(deviceInformationIsOptional: true)

    /// The verification token: opaque to the app, so no document in one of the formats.
    @Sendable func profileRequest(_ exchange: Exchange) async throws -> Response {
        let (bearer, requestor) = (try Bearer.required(exchange), try exchange.captured("requestor"))
        exchange.serves([requestor])
        let request = CreateProfileRequestRequest(
            accessToken: bearer, requestor: requestor, mvpd: try exchange.captured("mvpd"),
            deviceType: try exchange.value("deviceType") ?? "")
        let token = try await dependencies.authentication.createProfileRequest(request, context: exchange.changingCall)
        return Response(
            status: .ok, headers: [.contentType: "application/octet-stream", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: token.verificationToken)))
    }

    @Sendable func exchange(_ exchange: Exchange) async throws -> Response {
        let (call, request) = try await reader.read(exchange, Self.exchangeRules) { exchange throws(Fault) in
            ExchangePlatformProfileRequest(
                mvpd: try exchange.required("mvpd"), samlResponse: try exchange.required("SAMLResponse"))
        }
        var complete = request
        complete.call = call
        _ = try await dependencies.authentication.exchangePlatformProfile(complete, context: exchange.changingCall)
        return .empty(.noContent)
    }
}
