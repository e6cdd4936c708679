internal import Catalogue
public import ContractRuntime
public import Contracts
internal import Cryptography
internal import Faults
internal import Tokens

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
