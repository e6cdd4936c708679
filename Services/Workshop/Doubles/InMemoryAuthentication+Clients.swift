internal import Catalogue
public import ContractRuntime
public import Contracts
internal import Cryptography
internal import Faults
internal import Tokens

/// Clients and registration codes.
extension InMemoryAuthentication {
    public func registerClient(_ request: RegisterClientRequest, context: CallContext) async throws -> RegisteredClient {
        try requireWorking()
        let digest = Catalogue.legacySoftware + Hex.encode(SHA256.hash(request.softwareStatement))
        let own = config.catalogue.application(softwareID: digest)
        let application = try own ?? application(statement: request.softwareStatement)
        let number = numbers.next()
        let id = DerivedIdentity.uuid("client", "\(number)")
        clients[id] = application.id
        if own != nil { listed[id] = ListedClient(software: digest, registeredAt: now) }
        return RegisteredClient(
            clientID: id, clientSecret: Self.secret(id), issuedAtSeconds: now / 1000,
            redirectUris: request.redirectURI.isEmpty ? [] : [request.redirectURI], grantTypes: ["client_credentials"], scopes: application.scopes,
            requestorIDs: application.requestorIDs)
    }

    public func issueAccessToken(_ request: IssueAccessTokenRequest, context: CallContext) async throws -> AccessToken {
        try requireWorking()
        guard !request.clientID.isEmpty, !request.clientSecret.isEmpty else { throw Fault(.invalidRequest, "Required 'client_id' is not present") }
        guard request.grantType == "client_credentials" else { throw Fault(.unsupportedGrantType, "The only grant type is client_credentials.") }
        guard clients[request.clientID] != nil, request.clientSecret == Self.secret(request.clientID) else {
            throw Fault(.invalidClient, "The client is not known, or its secret is wrong.")
        }
        try requireListed(request.clientID)
        return AccessToken(
            id: DerivedIdentity.uuid("token", request.clientID), accessToken: "double-\(request.clientID)", createdAtMilliseconds: now,
            expiresInSeconds: Self.accessTokenLife,
            requestorIDs: application("double-\(request.clientID)", requestor: "").requestorIDs)
    }

    public func verifyAccessToken(_ request: VerifyAccessTokenRequest, context: CallContext) async throws -> VerifiedClient {
        try requireBearer(request.accessToken)
        if !request.requestor.isEmpty { _ = try config.catalogue.requireRequestor(request.requestor) }
        let application = application(request.accessToken, requestor: request.requestor)
        return VerifiedClient(
            clientID: clientID(request.accessToken), applicationID: application.id, scopes: application.scopes,
            requestorIDs: application.requestorIDs, expiresAtMilliseconds: now + UInt64(Self.accessTokenLife) * 1000)
    }

    public func createRegistrationCode(_ request: CreateRegistrationCodeRequest, context: CallContext) async throws -> RegistrationCode {
        let (call, requestor) = try requireDevice(request.call)
        guard request.ttlSeconds <= 36_000 else { throw Fault(.invalidRequest, "The ttl is larger than 36000 seconds.") }
        if !request.mvpd.isEmpty { _ = try config.catalogue.requireIntegration(requestor: requestor.id, mvpd: request.mvpd) }
        var record = newCode(call, lifetime: request.ttlSeconds == 0 ? 1800 : request.ttlSeconds)
        record.mvpd = request.mvpd
        record.registrationURL = request.registrationURL
        codes[record.code] = Code(record: record, clientID: clientID(call.accessToken), identity: identity(of: call))
        return record
    }

    /// - Parameter lifetime: Seconds.
    func newCode(_ call: DeviceCall, lifetime: UInt32 = 1800) -> RegistrationCode {
        let number = numbers.next()
        let moment = now
        let application = application(call.accessToken, requestor: call.requestor)
        return RegistrationCode(
            id: DerivedIdentity.uuid("code", "\(number)"), code: DerivedIdentity.registrationCode(number), requestor: call.requestor,
            generatedAtMilliseconds: moment, expiresAtMilliseconds: moment + UInt64(lifetime) * 1000, deviceID: call.deviceID,
            device: call.device, userAgent: call.userAgent, originalUserAgent: call.userAgent, deviceType: call.deviceType,
            deviceUser: call.deviceUser, appID: call.appID, applicationID: application.id, applicationName: application.name,
            applicationVersion: application.version)
    }

    public func getRegistrationCode(_ request: RegistrationCodeRequest, context: CallContext) async throws -> RegistrationCode {
        try requireWorking()
        if request.api == .v2 || !request.accessToken.isEmpty { try requireBearer(request.accessToken) }
        if !request.requestor.isEmpty { _ = try config.catalogue.requireRequestor(request.requestor) }
        let live = try liveCode(request.code, requestor: request.requestor)
        var record = live.record
        let isMaker = !request.accessToken.isEmpty && clientID(request.accessToken) == live.clientID
        guard isMaker || !record.used else { throw Fault(.registrationCodeSpent, "The registration code is not known or has expired.") }
        guard !isMaker else { return record }
        if !request.accessToken.isEmpty {
            record.deviceID = DerivedIdentity.uuid("device", record.requestor + record.deviceID)
            return record
        }
        record.deviceID = ""
        record.device = nil
        return record
    }

    public func deleteRegistrationCode(
        _ request: RegistrationCodeRequest, context: CallContext
    ) async throws -> DeleteRegistrationCodeResponse {
        try requireBearer(request.accessToken)
        _ = try config.catalogue.requireRequestor(request.requestor)
        let live = try liveCode(request.code, requestor: request.requestor)
        codes[live.record.code] = nil
        return DeleteRegistrationCodeResponse()
    }

    /// Made since its requestor's id is of who has it now.
    func isOfThisLife(_ code: RegistrationCode) -> Bool { code.generatedAtMilliseconds >= life(code.requestor) }

    /// - Throws: `invalid_registration_code`.
    func liveCode(_ typed: String, requestor: String) throws(Fault) -> Code {
        guard let code = codes[typed.uppercased()], code.record.expiresAtMilliseconds > now,
            requestor.isEmpty || code.record.requestor == requestor, isOfThisLife(code.record)
        else { throw Fault(.invalidRegistrationCode, "The registration code is not known or has expired.") }
        return code
    }

    private static func secret(_ clientID: String) -> String { DerivedIdentity.uuid("secret", clientID) }

    /// The application that the statement names; any text that is not empty is good for the first one, where the catalogue has no keys.
    private func application(statement: String) throws(Fault) -> Application {
        guard !statement.isEmpty else { throw Fault(.invalidSoftwareStatement, "The software statement is absent.") }
        let configuration = config.configuration
        do {
            let keys = try JSONWebKeySet(json: configuration.statementKeys)
            let content = try SoftwareStatementVerifier(keySet: keys).verify(statement)
            if let application = config.catalogue.application(softwareID: content.softwareID) { return application }
            throw Fault(.unapprovedSoftwareStatement, "The software statement is revoked.")
        } catch is CryptographyError {
            return configuration.applications.first ?? Application()
        } catch let fault as Fault {
            throw fault
        } catch {
            throw Fault(.invalidSoftwareStatement, "The software statement is not genuine.")
        }
    }
}

/// Tokens that apps keep: here the index names requestor and device, and no key signs.
extension InMemoryAuthentication {
    public func issueStoredToken(_ request: SessionByCodeRequest, context: CallContext) async throws -> StoredAuthentication {
        try requireBearer(request.accessToken)
        guard let code = codes[request.code], code.clientID == clientID(request.accessToken),
            !request.demandsDevice || request.deviceID == code.record.deviceID
        else { throw Fault(.invalidRegistrationCode, "The code is not known.") }
        let subject: SessionSubject
        do throws(Fault) {
            subject = try self.subject(byCode: request)
        } catch {
            let isOver = code.record.used && error.code == .authenticationSessionMissing
            throw isOver ? Fault(.authenticationSessionExpired, "Nobody is signed in any more.") : error
        }
        return StoredAuthentication(token: Self.index(of: subject), metadata: metadata(subject))
    }

    public func identifyDevice(_ request: IdentifyDeviceRequest, context: CallContext) async throws -> IdentifiedDevice {
        try requireWorking()
        if !request.accessToken.isEmpty { try requireBearer(request.accessToken) }
        guard (1...512).contains(request.fingerprint.utf8.count) else { throw Fault(.invalidRequest, "The fingerprint must have 1 to 512 octets.") }
        let isKept = request.seal.hasPrefix("sealed-")
        let isRandom = request.accessToken.isEmpty || request.fingerprint.utf8.count != 32
        let device =
            isKept
            ? String(request.seal.dropFirst("sealed-".count))
            : DerivedIdentity.digest("device", request.fingerprint, isRandom ? "\(numbers.next())" : "")
        return IdentifiedDevice(deviceID: device, seal: "sealed-" + device)
    }

    public func getStoredTokenKeys(_ request: GetStoredTokenKeysRequest, context: CallContext) async throws -> StoredTokenKeys {
        StoredTokenKeys(jwks: JSONWebKeySet(keys: []).json)
    }

    /// The token of a device's session as the double makes them.
    public func storedToken(device: String, requestor: String) -> String {
        var subject = subject(device: device, requestor: requestor)
        subject.deviceID = device
        return Self.index(of: subject)
    }

    /// The session that a stored token names, also as the index of a permit.
    func subject(_ stored: StoredToken, of call: DeviceCall) throws(Fault) -> SessionSubject {
        if !call.accessToken.isEmpty { try requireBearer(call.accessToken) }
        let missing = Fault(.authenticationSessionMissing, "User not authenticated")
        let index = stored.sessionIndex.isEmpty ? stored.text : stored.sessionIndex
        guard let text = Base64.url.decode(index).flatMap({ String(validating: $0, as: UTF8.self) }) else { throw missing }
        let parts = text.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, parts[1] == call.requestor, call.deviceID.isEmpty || call.deviceID == parts[2] else { throw missing }
        var subject = try self.subject(at: Place(device: parts[2], requestor: parts[1]), call: nil)
        guard let session = subject.session, session.id == parts[0], stored.mvpd.isEmpty || stored.mvpd == session.mvpd else { throw missing }
        subject.deviceID = parts[2]
        subject.sessionIndex = index
        subject.deviceFingerprint = DerivedIdentity.digest("fingerprint", parts[2])
        return subject
    }

    private static func index(of subject: SessionSubject) -> String {
        let session = subject.session ?? Session()
        return Base64.url.encode(Array("\(session.id)\n\(session.requestor)\n\(subject.deviceID)".utf8))
    }
}
