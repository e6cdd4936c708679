package import Catalogue
package import Clocks
package import ContractRuntime
package import Contracts
package import Faults
internal import Storage
package import Tokens

/// Checks the access token of a call, or its signature, then what every device call must say (rest-v1 §2.2, §2.5, §2.8).
///
/// A token that was checked once is remembered by its text until a client is revoked: its signature never changes. Each call checks again what may
/// change by itself: the time, the software statement and the application.
package final class BearerCheck: Sendable {
    /// Those of apps, of whichever API: Automatic Sign-In is beside both (apple §4).
    package static let appScopes = [ApiVersion.v1.scope, ApiVersion.v2.scope]

    private struct CheckedToken: Sendable {
        let client: ClientID
        /// `nil`: a client that another house registered.
        let software: SoftwareID?
        let scopes: [String]
        /// The issue time of the registered client; otherwise that of the token.
        let issuedAt: Timestamp
        let expiresAt: Timestamp
    }

    private let tokens: AccessTokenVerifier
    private let catalogue: any CatalogueSource
    private let store: SqlAuthenticationStore
    private let clock: any WallClock
    private let metrics: AuthenticationMetrics
    private let identities: PlatformIdentities
    private let checked: CoherentCache<String, CheckedToken>
    private let signatures: SignedRequestCheck
    private let serviceTokens: ServiceTokenCheck

    /// - Parameter capacity: The number of checked tokens that are remembered, at least 2.
    package init(
        tokens: AccessTokenVerifier, catalogue: any CatalogueSource, store: SqlAuthenticationStore, clock: any WallClock,
        metrics: AuthenticationMetrics, signatures: SignedRequestCheck, serviceTokens: ServiceTokenCheck, platforms: PlatformIdentities,
        capacity: Int = 16_384
    ) {
        self.tokens = tokens
        self.catalogue = catalogue
        self.store = store
        self.clock = clock
        self.metrics = metrics
        self.signatures = signatures
        self.serviceTokens = serviceTokens
        identities = platforms
        checked = CoherentCache(capacity: capacity, changes: store.changes)
    }

    /// - Parameters:
    ///   - requestor: The requestor of the call; empty: not checked.
    ///   - scope: The scope that the call needs.
    /// - Throws: `access_denied` (absent, malformed, expired, not ours), `invalid_client` (statement or client revoked),
    ///   `insufficient_scope` (another scope, or a foreign requestor), `invalid_requestor` (unknown).
    package func client(_ token: String, requestor: String, scope: String = ApiVersion.v1.scope) async throws(Fault) -> AuthenticatedClient {
        try await client(Credentials(accessToken: token), requestor: requestor, scope: scope)
    }

    /// The same for a call that may be signed.
    /// - Parameter scope: The scope that the call needs; `nil`: that of its API.
    package func client(_ credentials: Credentials, requestor: String, scope: String? = nil) async throws(Fault) -> AuthenticatedClient {
        let catalogue = try catalogue.current()
        let client = try await client(credentials, scopes: [scope ?? credentials.api.scope], catalogue)
        if !requestor.isEmpty { try requireCovered(requestor, by: client) }
        return client
    }

    /// A programmer's own backend, which has no device.
    /// - Throws: As `client`; `invalid_requestor` also when the call names none.
    package func backend(_ call: DeviceCall?, scope: String) async throws(Fault) -> AuthenticatedClient {
        let call = call ?? DeviceCall()
        let client = try await client(call.accessToken, requestor: "", scope: scope)
        try requireCovered(call.requestor, by: client)
        return client
    }

    /// - Parameters:
    ///   - scopes: The call needs one of these; `nil`: that of its API.
    ///   - allowsShared: False where the answer is bound to the client alone: one device's could be redeemed by another of the same app (clients §2).
    ///   - requiresRequestor: False for logout, which may lack one (rest-v1 §2.8).
    ///   - allowsPlaceholder: True where a device may still lack an id (rest-v1 §2.5).
    ///   - mayRequireInformation: False where the device information may be left out whatever the requestor's setting (rest-v1 §3.12).
    /// - Throws: As `client`, then `invalid_requestor`, `invalid_device_id`, `invalid_device_info`.
    package func device(
        _ call: DeviceCall?, scopes: [String]? = nil, allowsShared: Bool = true, requiresRequestor: Bool = true,
        allowsPlaceholder: Bool = false, mayRequireInformation: Bool = true
    ) async throws(Fault) -> DeviceCaller {
        let call = call ?? DeviceCall()
        guard allowsShared || call.signedRequest == nil else { throw Fault(.accessDenied, "The call needs an access token.") }
        let client = try await client(call.credentials, scopes: scopes ?? [call.api.scope], try catalogue.current())
        guard allowsShared || !client.isShared else { throw Fault(.insufficientScope, "The call needs a client of the device's own.") }
        if requiresRequestor || !call.requestor.isEmpty { try requireCovered(call.requestor, by: client) }
        let device = try DeviceRules.device(call.deviceID, allowsPlaceholder: allowsPlaceholder)
        let requiresInformation = mayRequireInformation && client.catalogue.requestor(call.requestor)?.requiresDeviceInformation == true
        return DeviceCaller(
            client: client, requestor: RequestorID(call.requestor), device: device,
            information: try DeviceRules.information(call, isRequired: requiresInformation).called(by: client, call.api), userAgent: call.userAgent,
            deviceType: call.deviceType, claims: DeviceClaims(appID: call.appID, deviceUser: call.deviceUser),
            identity: await identities.identity(of: call.subjectToken, in: client.catalogue),
            serviceIdentity: try await serviceTokens.identity(of: call.serviceToken, for: client), partner: call.partnerStatus)
    }

    /// To be called when a client was revoked, after the store knows it: no token counts any more without a look at the store.
    package func forgetTokens() { checked.forgetAll() }

    private func requireCovered(_ requestor: String, by client: AuthenticatedClient) throws(Fault) {
        let known = RequestorID(try client.catalogue.requireRequestor(requestor).id)
        guard client.covers(known) else { throw Fault(.insufficientScope, "The application may not act for the requestor.") }
    }

    private func client(_ credentials: Credentials, scopes: [String], _ catalogue: Catalogue) async throws(Fault) -> AuthenticatedClient {
        guard let signed = credentials.signed else {
            let client = try await client(credentials.accessToken, catalogue)
            guard scopes.contains(where: { client.scopes.contains($0) }) else { throw Self.foreignScope(credentials.api) }
            return client
        }
        guard credentials.accessToken.isEmpty else { throw Fault(.invalidRequest, "An access token and a signature were sent.") }
        guard credentials.api != .v2 else { throw Fault(.accessDenied, "The call needs an access token.") }
        let client = try await signatures.client(signed, in: catalogue)
        guard scopes.contains(where: { client.scopes.contains($0) }) else { throw Fault(.accessDenied, "The call needs an access token.") }
        return client
    }

    private static func foreignScope(_ api: ApiVersion) -> Fault {
        Fault(api == .v2 ? .accessDenied : .insufficientScope, "The access token is not for this call.")
    }

    private func client(_ token: String, _ catalogue: Catalogue) async throws(Fault) -> AuthenticatedClient {
        guard !token.isEmpty else { throw Fault(.accessDenied, "An access token is required.") }
        let checked: CheckedToken
        switch self.checked.lookup(token) {
        case .hit(let known):
            metrics.knownTokens.increment()
            checked = known
        case .miss(let epoch): checked = try await check(token, in: catalogue, epoch)
        }
        guard clock.now() < checked.expiresAt else { throw Fault(.accessDenied, "The access token has expired.") }
        let application =
            if let software = checked.software {
                catalogue.application(softwareID: software.text, registeredAtMilliseconds: checked.issuedAt.milliseconds)
            } else {
                catalogue.importedClient(checked.client.text).flatMap { $0.client.hasIssued(at: checked.issuedAt) ? $0.application : nil }
            }
        guard let application else { throw Fault(.invalidClient, "The client's software statement is no longer accepted.") }
        return AuthenticatedClient(
            id: checked.client, application: application, scopes: checked.scopes, expiresAt: checked.expiresAt, catalogue: catalogue,
            isShared: checked.software == nil)
    }

    private func check(_ token: String, in catalogue: Catalogue, _ epoch: CoherentCache<String, CheckedToken>.Epoch) async throws(Fault)
        -> CheckedToken
    {
        metrics.checkedTokens.increment()
        let claims = try verify(token)
        let id = ClientID(claims.clientID)
        let client = try await store.client(id)
        guard client != nil || catalogue.importedClient(claims.clientID) != nil else { throw Fault(.invalidClient, "The client is not known.") }
        let result = CheckedToken(
            client: id, software: client?.softwareID, scopes: claims.scopes, issuedAt: client?.issuedAt ?? claims.issuedAt,
            expiresAt: claims.expiresAt)
        checked.offer(result, for: token, readIn: epoch)
        return result
    }

    private func verify(_ token: String) throws(Fault) -> AccessTokenClaims {
        do {
            return try tokens.verify(token)
        } catch {
            throw Fault(.accessDenied, "The access token is not accepted.", cause: error)
        }
    }
}

extension ApiVersion {
    /// The scope that an access token needs for it (rest-v1 §2.2, rest-v2 §1.3).
    package var scope: String { self == .v2 ? "api:client:v2" : "api:client:v1" }
}

extension ImportedClient {
    /// True when a token is of the time that the client's programmer has it. Tokens say the second alone.
    fileprivate func hasIssued(at moment: Timestamp) -> Bool { UInt64(clamping: moment.milliseconds) / 1000 >= sinceMilliseconds / 1000 }
}

extension BearerCheck: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.verifyAccessToken) { [self] request, _ in
            let scope = request.scope.isEmpty ? nil : request.scope
            return try await client(request.credentials, requestor: request.requestor, scope: scope).contract
        }
    }
}

/// The device fields that a device call must have (rest-v1 §2.4, §2.5).
package enum DeviceRules {
    private static let longestID = 512
    private static let longestText = 512

    /// 1 to 512 printable characters; compared as they are.
    /// - Throws: `invalid_device_id`.
    package static func device(_ id: String, allowsPlaceholder: Bool) throws(Fault) -> DeviceID {
        guard !id.isEmpty else { throw Fault(.invalidDeviceID, "Required 'deviceId' is not present") }
        let isPlain = id.utf8.count <= longestID && id.utf8.allSatisfy { (0x20..<0x7f).contains($0) }
        guard isPlain || id.unicodeScalars.count <= longestID && id.unicodeScalars.allSatisfy(isPrintable) else {
            throw Fault(.invalidDeviceID, "The 'deviceId' is not 1 to \(longestID) printable characters.")
        }
        let device = DeviceID(id)
        guard allowsPlaceholder || device != RegistrationCodes.placeholderDevice else {
            throw Fault(.invalidDeviceID, "The 'deviceId' is only good for creating a registration code.")
        }
        return device
    }

    /// - Parameter isRequired: True where the requestor demands it; no client that is known from before sends any (clients §1.1).
    /// - Throws: `invalid_device_info` without model and operating system; `invalid_request` when a text is too long.
    package static func information(_ call: DeviceCall, isRequired: Bool) throws(Fault) -> DeviceInformation {
        let device = call.device ?? DeviceInformation()
        guard !isRequired || !device.model.isEmpty && !device.osName.isEmpty else {
            throw Fault(.invalidDeviceInformation, "The device information lacks 'model' or 'osName', or cannot be read.")
        }
        for (name, text) in [("deviceType", call.deviceType), ("deviceUser", call.deviceUser), ("appId", call.appID)]
        where text.utf8.count > longestText {
            throw Fault(.invalidRequest, "The value of '\(name)' is too long.")
        }
        return device
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value < 0x7f }
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: return false
        default: return true
        }
    }
}
