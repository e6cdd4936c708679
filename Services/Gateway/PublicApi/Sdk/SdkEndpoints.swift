internal import Catalogue
internal import Contracts
internal import Faults
internal import FoundationEssentials
internal import GatewayEdge
internal import Hummingbird

/// The calls that the vendor's SDKs make themselves, over the same operations as v1 (clients §3).
struct SdkEndpoints: Sendable {
    let dependencies: Dependencies
    let reader: SdkCallReader
    let signIn: SignInEndpoints
    /// Media tokens have one endpoint, and one measure of how many there is room for.
    let decisions: AuthorizationEndpoints

    // MARK: Signing in

    /// As `/api/v1/authenticate`; where the MVPD cannot be used, the person goes back.
    @Sendable func authenticate(_ exchange: Exchange) async throws -> Response {
        do {
            return try await signIn.authenticate(exchange)
        } catch let fault as Fault where fault.code == .unknownIntegration {
            guard let target = try exchange.value("redirect_url"), let id = try exchange.value("requestor_id"),
                let requestor = try dependencies.catalogue.current().requestor(id),
                RedirectRule(requestors: [requestor], try dependencies.catalogue.current()).accepts(target)
            else { throw fault }
            return .redirect(to: target)
        }
    }

    @Sendable func session(_ exchange: Exchange) async throws -> Response { try await session(exchange, demandsDevice: false) }

    @Sendable func deviceSession(_ exchange: Exchange) async throws -> Response { try await session(exchange, demandsDevice: true) }

    private func session(_ exchange: Exchange, demandsDevice: Bool) async throws -> Response {
        let (call, code) = try await reader.read(exchange) { exchange throws(Fault) in try exchange.required("reg_code") }
        let request = SessionByCodeRequest(
            accessToken: call.accessToken, requestor: call.requestor, code: code, deviceID: call.deviceID, demandsDevice: demandsDevice)
        do {
            let answer = try await dependencies.authentication.issueStoredToken(request, context: exchange.changingCall)
            return SdkReply.result([.init("authnToken", .text(answer.token)), SdkReply.userMetadata(answer.metadata ?? UserMetadata())])
        } catch let fault as Fault where fault.code == .authenticationSessionExpired {
            return SdkReply.pendingLogout
        }
    }

    // MARK: Deciding

    @Sendable func authorize(_ exchange: Exchange) async throws -> Response { try await authorize(exchange, needsBearer: false) }

    @Sendable func authorizeDevice(_ exchange: Exchange) async throws -> Response { try await authorize(exchange, needsBearer: true) }

    private func authorize(_ exchange: Exchange, needsBearer: Bool) async throws -> Response {
        var (call, request) = try await reader.read(exchange, needsBearer: needsBearer) { exchange throws(Fault) in
            (
                token: try Self.token("authentication_token", exchange),
                decision: AuthorizeRequest(
                    resource: try Self.resource(exchange), genericData: try exchange.value("generic_data") ?? "", wantsToken: true),
                wantsMetadata: try exchange.value("userMeta") == "1"
            )
        }
        call.storedToken = request.token
        request.decision.call = call
        do {
            let decision = try await dependencies.authorization.authorize(request.decision, context: exchange.changingCall)
            // The token that the app keeps has been accepted, where there is no bearer.
            exchange.credentials.markHandedOn()
            var members: [Document.Member] = [.init("authzToken", .text(decision.token))]
            if request.wantsMetadata {
                members.append(
                    SdkReply.userMetadata(try await dependencies.authentication.getUserMetadata(SessionRequest(call: call), context: exchange.call)))
            }
            return SdkReply.result(members)
        } catch {
            exchange.credentials.failed(with: error)
            return try SdkReply.answer(to: error)
        }
    }

    @Sendable func shortAuthorize(_ exchange: Exchange) async throws -> Response { try await mediaToken(exchange, needsBearer: false) }

    @Sendable func deviceShortAuthorize(_ exchange: Exchange) async throws -> Response { try await mediaToken(exchange, needsBearer: true) }

    /// The token in clear, as programmers' players pass it on.
    private func mediaToken(_ exchange: Exchange, needsBearer: Bool) async throws -> Response {
        var (call, token) = try await reader.read(exchange, needsBearer: needsBearer) { exchange throws(Fault) in
            try Self.token("authz_token", exchange)
        }
        call.storedToken = StoredToken(mvpd: token.mvpd)
        do {
            let issued = try await decisions.issue(ResourceRequest(call: call, authorizationToken: token.text), exchange)
            exchange.credentials.markHandedOn()
            guard let plain = Data(base64Encoded: issued.serializedToken) else {
                return Response(text: issued.serializedToken, type: "text/plain; charset=utf-8", cacheControl: "no-store")
            }
            return Response(text: String(decoding: plain, as: UTF8.self), type: "text/xml; charset=utf-8", cacheControl: "no-store")
        } catch {
            exchange.credentials.failed(with: error)
            return try SdkReply.answer(to: error)
        }
    }

    @Sendable func preauthorize(_ exchange: Exchange) async throws -> Response {
        var (call, request) = try await reader.read(exchange) { exchange throws(Fault) in
            (token: try Self.token("authentication_token", exchange), resources: try Self.resources(exchange))
        }
        call.storedToken = request.token
        do {
            let answer = try await dependencies.authorization.preauthorize(
                PreauthorizeRequest(call: call, resources: ResourceList(items: request.resources)), context: exchange.call)
            let items = answer.resources.map { item in
                Document.Member("resource", .object([.init("id", .text(item.id)), .init("authorized", .flag(item.authorized))]))
            }
            return Response(Document("resources", items), format: .xml)
        } catch {
            exchange.credentials.failed(with: error)
            return try SdkReply.answer(to: error)
        }
    }

    // MARK: Parameters

    private static func token(_ name: String, _ exchange: Exchange) throws(Fault) -> StoredToken {
        StoredToken(text: try exchange.required(name), mvpd: try exchange.value("mso_id") ?? "")
    }

    private static func resource(_ exchange: Exchange) throws(Fault) -> String {
        do { return try exchange.required("resource_id") } catch { throw Fault(.missingResource, error.message) }
    }

    private static func resources(_ exchange: Exchange) throws(Fault) -> [String] {
        let sent = try exchange.all("resource_id")
        guard !sent.allSatisfy(\.isEmpty) else { throw Fault(.missingResource, "Required 'resource_id' is not present") }
        return sent
    }
}

/// `/adobe-services/1.0/…`: the addresses of the first native SDKs, which later ones used too (clients §3).
struct NativeCalls: Sendable {
    /// Serves a call that stands on a bearer as the newer call of the same name.
    func standingOnBearer(_ handler: @escaping Route.Handler) -> Route.Handler {
        { exchange in
            let isSent = exchange.headers[.authorization] != nil || !exchange.lacks("access_token")
            return isSent ? try await handler(exchange) : Self.gone(exchange)
        }
    }

    /// Serves a call that stands on a registration code.
    func standingOnCode(_ handler: @escaping Route.Handler) -> Route.Handler {
        { exchange in exchange.lacks("reg_code") ? Self.gone(exchange) : try await handler(exchange) }
    }

    private static func gone(_ exchange: Exchange) -> Response {
        Response(
            ErrorDocument.plain(
                status: 410, message: "Gone",
                details:
                    "This is a call of the first native SDKs, which keep a sign-in in cookies. Served are calls with a registration code and an access token."
            ),
            format: .xml, status: .gone)
    }
}

/// Answers of the vendor's own calls: always XML, with a root `result` (clients §3).
enum SdkReply {
    static func result(_ members: [Document.Member]) -> Response { Response(Document("result", members), format: .xml) }

    /// The app is to forget the token that it keeps, and to sign in again.
    static var pendingLogout: Response { result([.init("pendingLogout", .object([]))]) }

    static func userMetadata(_ metadata: UserMetadata) -> Document.Member {
        .init("userMeta", .text(String(decoding: MetadataEndpoint.document(metadata).jsonBytes, as: UTF8.self)))
    }

    /// The answer for a fault to an app that keeps tokens.
    /// - Throws: A fault that is no answer of this kind.
    static func answer(to error: any Error) throws -> Response {
        guard let fault = error as? Fault else { throw error }
        if over.contains(fault.code) { return pendingLogout }
        guard denials.contains(fault.code) else { throw fault }
        let details = [fault.details ?? "", fault.message].first { !$0.isEmpty } ?? "User not authorized"
        return result([.init("error", .object([.init("notAuthorized", .object([])), .init("details", .text(details))]))])
    }

    /// The session, or the permit, is there no more.
    private static let over: Set<Fault.Code> = [
        .authenticationSessionMissing, .authenticationSessionExpired, .authenticationSessionInvalidated, .authorizationDeniedBySessionInvalidated,
        .authorizationNotFound, .authorizationExpired,
    ]

    /// The word of an MVPD, or of an operator in its place.
    private static let denials: Set<Fault.Code> = [
        .authorizationDeniedByMvpd, .authorizationDeniedByParentalControls, .authorizationDeniedByHbaPolicies, .authorizationDeniedByDegradationRule,
        .identityNotRecognizedByMvpd,
    ]
}

/// Reads the common parts of calls of the vendor's SDKs (clients §3): a bearer, the requestor, and a device. A stored token may name the device
/// instead.
struct SdkCallReader: Sendable {
    let dependencies: Dependencies
    let reader: DeviceCallReader

    /// - Parameters:
    ///   - needsBearer: False where a stored token is enough.
    ///   - others: Reads the endpoint's own parameters.
    /// - Throws: `BearerRejection` or the first problem; one that the gateway finds itself is told only to the bearer of a good token.
    func read<Others>(
        _ exchange: Exchange, needsBearer: Bool = true, others: (Exchange) throws(Fault) -> Others
    ) async throws -> (call: DeviceCall, others: Others) {
        let bearer = try Bearer.optional(exchange)
        guard bearer != nil || !needsBearer else { throw BearerRejection(fault: Fault(.accessDenied, "An access token is required.")) }
        if bearer != nil { exchange.credentials.markHandedOn() }
        do {
            return (try call(exchange, bearer ?? ""), try others(exchange))
        } catch {
            if let bearer {
                _ = try await dependencies.authentication.verifyAccessToken(VerifyAccessTokenRequest(accessToken: bearer), context: exchange.call)
            }
            throw error
        }
    }

    private func call(_ exchange: Exchange, _ bearer: String) throws(Fault) -> DeviceCall {
        let requestor: String
        do { requestor = try exchange.required("requestor_id") } catch { throw Fault(.invalidRequestor, error.message) }
        let record = try dependencies.catalogue.current().requireRequestor(requestor)
        let id = record.id
        exchange.serves([id])
        // The storing of a token may depend on it; the kind of a device has no such weight.
        let device = try reader.information(exchange, requestor: id, deviceType: try exchange.value("client_type") ?? "")
        return DeviceCall(
            accessToken: bearer, requestor: id, deviceID: try Self.device(exchange), device: device,
            clientAddress: exchange.facts.clientAddress.text, userAgent: exchange.userAgent,
            clientPort: record.bridge == nil ? 0 : UInt32(exchange.facts.clientPort))
    }

    /// The device that the call names: in its form, or in the header of the web SDK; empty: none.
    static func device(_ exchange: Exchange) throws(Fault) -> String {
        let sent = try exchange.value("device_id") ?? ""
        return sent.isEmpty ? exchange.headers.value(.webDeviceID) ?? "" : sent
    }
}
