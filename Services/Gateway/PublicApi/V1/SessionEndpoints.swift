internal import Catalogue
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore

/// Authn tokens (rest-v1 §3.9 to §3.11, §3.20).
struct SessionEndpoints: Sendable {
    let dependencies: Dependencies
    let reader: DeviceCallReader

    @Sendable func check(_ exchange: Exchange) async throws -> Response {
        // Without a requestor any of the application's counts (clients §1.6).
        _ = try await session(exchange, DeviceCallReader.Rules(requestorIsOptional: true))
        return .empty(.ok)
    }

    @Sendable func checkByCode(_ exchange: Exchange) async throws -> Response {
        let credentials = try Credentials.optional(exchange)
        let request: SessionByCodeRequest
        do { request = try byCode(credentials ?? Credentials(), exchange) } catch {
            if let credentials { _ = try await dependencies.authentication.verifyAccessToken(credentials.verification(), context: exchange.call) }
            throw error
        }
        _ = try await dependencies.authentication.getSessionByCode(request, context: exchange.call)
        return .empty(.ok)
    }

    @Sendable func token(_ exchange: Exchange) async throws -> Response {
        Self.reply(try await session(exchange, .standard), exchange)
    }

    /// The same of the device whose code it is, to the code's maker alone (clients §1.5).
    @Sendable func tokenByCode(_ exchange: Exchange) async throws -> Response {
        let credentials = try Credentials.required(exchange)
        let request: SessionByCodeRequest
        do { request = try byCode(credentials, exchange) } catch {
            _ = try await dependencies.authentication.verifyAccessToken(credentials.verification(), context: exchange.call)
            throw error
        }
        return Self.reply(try await dependencies.authentication.getOwnSessionByCode(request, context: exchange.call), exchange)
    }

    private static func reply(_ session: Session, _ exchange: Exchange) -> Response {
        Response(
            Document(
                "authentication",
                [
                    .init("requestor", .text(session.requestor)), .init("mvpd", .text(session.mvpd)),
                    .init("userId", .text(session.userID)), .init("expires", .text(String(session.expiresAtMilliseconds))),
                ]), format: exchange.format)
    }

    private func session(_ exchange: Exchange, _ rules: DeviceCallReader.Rules) async throws -> Session {
        let call = try await reader.read(exchange, rules) { _ throws(Fault) in }.call
        return try await dependencies.authentication.getSession(SessionRequest(call: call), context: exchange.call)
    }

    private func byCode(_ credentials: Credentials, _ exchange: Exchange) throws(Fault) -> SessionByCodeRequest {
        SessionByCodeRequest(
            accessToken: credentials.accessToken, requestor: try requestor(exchange, credentials), code: try exchange.captured("code"),
            signedRequest: credentials.signed, deviceID: try exchange.value("deviceId") ?? "")
    }

    private func requestor(_ exchange: Exchange, _ credentials: Credentials) throws(Fault) -> String {
        var id: String
        do { id = try exchange.value("requestor") ?? "" } catch { throw Fault(.invalidRequestor, error.message) }
        if id.isEmpty { id = credentials.signedRequestor ?? "" }
        exchange.serves([id])
        return try dependencies.catalogue.current().requireRequestor(id).id
    }
}

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
