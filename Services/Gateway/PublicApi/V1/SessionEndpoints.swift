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

/// Authz tokens and short media tokens (rest-v1 §3.14, §3.15, §3.18).
struct AuthorizationEndpoints: Sendable {
    let dependencies: Dependencies
    let reader: DeviceCallReader
    /// The pressure of media token calls: signatures are the work for which authorization lacks room.
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

/// The resources, among several, that may be watched (rest-v1 §3.16, §3.17).
struct PreauthorizationEndpoints: Sendable {
    let dependencies: Dependencies
    let reader: DeviceCallReader

    @Sendable func preauthorize(_ exchange: Exchange) async throws -> Response {
        let (call, resources) = try await reader.read(exchange, others: Self.resources)
        let request = PreauthorizeRequest(call: call, resources: resources)
        return reply(try await dependencies.authorization.preauthorize(request, context: exchange.call), exchange)
    }

    @Sendable func preauthorizeByCode(_ exchange: Exchange) async throws -> Response {
        let credentials = try Credentials.optional(exchange)
        let request: PreauthorizeByCodeRequest
        do {
            request = PreauthorizeByCodeRequest(
                accessToken: credentials?.accessToken ?? "", requestor: try requestor(exchange, credentials), code: try exchange.captured("code"),
                resources: try Self.resources(exchange), clientAddress: exchange.facts.clientAddress.text,
                signedRequest: credentials?.signed)
        } catch {
            if let credentials { _ = try await dependencies.authentication.verifyAccessToken(credentials.verification(), context: exchange.call) }
            throw error
        }
        return reply(try await dependencies.authorization.preauthorizeByCode(request, context: exchange.call), exchange)
    }

    /// - Throws: `missing_resource` when the parameter is absent; an empty one is left to the service.
    private static func resources(_ exchange: Exchange) throws(Fault) -> ResourceList {
        guard let text = try exchange.value("resource") else { throw Fault(.missingResource, "Required 'resource' is not present") }
        return ResourceList(text: text)
    }

    private func requestor(_ exchange: Exchange, _ credentials: Credentials?) throws(Fault) -> String {
        var id: String
        do { id = try exchange.value("requestor") ?? "" } catch { throw Fault(.invalidRequestor, error.message) }
        if id.isEmpty { id = credentials?.signedRequestor ?? "" }
        exchange.serves([id])
        return try dependencies.catalogue.current().requireRequestor(id).id
    }

    private func reply(_ answer: Preauthorization, _ exchange: Exchange) -> Response {
        let errors = (try? exchange.value("requestor")).flatMap { (try? dependencies.catalogue.current())?.requestor($0) }?.enhancedErrors == true
        let items = answer.resources.map { item in
            var members: [Document.Member] = [.init("id", .text(item.id)), .init("authorized", .flag(item.authorized))]
            if errors, let refusal = item.refusal { members.append(.init("error", .object(error(refusal, exchange)))) }
            return Document.Value.object(members)
        }
        let list = Document.Value.list(items, item: "resource")
        var response: Response
        switch exchange.format {
        case .json: response = Response(json: Document.Value.object([.init("resources", list)]).jsonBytes, status: .ok)
        // The root is the list itself.
        case .xml: response = Response(Document("resources", items.map { .init("resource", $0) }), format: .xml)
        }
        response.headers[.adobeResponseConfidence] = answer.isPartial ? "partial" : "full"
        return response
    }

    /// The flat object of rest-v1 §2.8 within an item.
    private func error(_ refusal: ResourceRefusal, _ exchange: Exchange) -> [Document.Member] {
        let row = ErrorTable.row(for: Fault.Code(rawValue: refusal.code))
        return ErrorDocument.enhanced(
            action: row.action, status: row.statuses[0], code: row.code, message: ErrorTexts.item(row.action),
            details: refusal.details.isEmpty ? nil : refusal.details, help: exchange.facts.host.help(row.code),
            trace: exchange.facts.trace.traceID
        ).members
    }
}
