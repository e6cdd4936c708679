package import Catalogue
package import Clocks
package import Contracts
package import Cryptography
package import Faults
package import Logging
package import Tokens

/// Sessions as apps of the vendor's SDKs keep them: tokens that they store and show again (clients §3).
package struct StoredSessions: Sendable {
    package let bearers: BearerCheck
    package let catalogue: any CatalogueSource
    package let store: SqlAuthenticationStore
    package let clock: any WallClock
    package let issuer: StoredTokenIssuer
    package let verifier: StoredTokenVerifier
    package let seals: StoredTokenSeals
    package let userIDs: UserIDScrambler
    package let metrics: AuthenticationMetrics
    package let logger: Logger

    /// The same for whatever is wrong: the app is to forget what it keeps, and to sign in again.
    private static let over = SessionState.nobody

    /// - Throws: `internal`.
    package func token(of session: SessionRecord) throws(Fault) -> String {
        metrics.storedTokens.increment()
        let index = try seals.close(StoredTokenSeals.Handle(session: session.id, key: session.key))
        // The whole second that the token can name: it never outlives its session.
        let end = Timestamp(seconds: session.expiresAt.seconds)
        return try issuer.issue(
            StoredTokenClaims(
                guid: session.userID, requestor: session.key.requestor.text, mvpd: session.mvpd.text,
                fingerprint: userIDs.fingerprint(session.key.device), sessionIndex: index, expiresAt: end))
    }

    /// The session that a token names, if everything still holds (clients §3).
    /// - Throws: Faults of the bearer where one was sent; `invalid_requestor`; `invalid_request`; `authentication_session_missing`.
    package func session(of call: DeviceCall, _ stored: StoredToken, hidesDisabled: Bool) async throws(Fault) -> (
        record: SessionRecord, catalogue: Catalogue
    ) {
        let bearer = call.accessToken.isEmpty ? nil : try await bearers.client(call.accessToken, requestor: call.requestor)
        let catalogue = if let bearer { bearer.catalogue } else { try catalogue.current() }
        let requestor = try catalogue.requireRequestor(call.requestor)
        guard let handle = try handle(stored, requestor) else { throw Self.over }
        let isNamed = !call.deviceID.isEmpty
        guard !requestor.bindsStoredTokens || bearer != nil && isNamed else { throw Self.over }
        guard !isNamed || DeviceID(call.deviceID) == handle.key.device else { throw Self.over }
        guard let record = try await store.sessions(handle.key).first(where: { $0.id == handle.session }) else { throw Self.over }
        guard stored.mvpd.isEmpty || MvpdID(stored.mvpd) == record.mvpd else { throw Self.over }
        let state = SessionState.of(record, claims: DeviceClaims(), visibleIn: catalogue, hidesDisabled: hidesDisabled, now: clock.now())
        guard case .valid = state else { throw Self.over }
        if bearer == nil { try await requireServed(record.clientID, record.key.requestor, catalogue) }
        return (record, catalogue)
    }

    /// Adds the data that the deciding service needs for a token of its own.
    /// - Throws: `internal`.
    package func complete(_ subject: inout SessionSubject, of session: SessionRecord, as stored: StoredToken) throws(Fault) {
        let handle = StoredTokenSeals.Handle(session: session.id, key: session.key)
        subject.sessionIndex = stored.sessionIndex.isEmpty ? try seals.close(handle) : stored.sessionIndex
        subject.deviceFingerprint = userIDs.fingerprint(session.key.device)
    }

    /// - Returns: `nil` for a token that does not count.
    /// - Throws: `invalid_request`.
    private func handle(_ stored: StoredToken, _ requestor: Requestor) throws(Fault) -> StoredTokenSeals.Handle? {
        var index = stored.sessionIndex
        if index.isEmpty {
            guard let token = try verified(stored.text), token.expiresAt > clock.now() else { return nil }
            guard OctetText(token.requestor) == OctetText(requestor.id), stored.mvpd.isEmpty || OctetText(stored.mvpd) == OctetText(token.mvpd) else {
                return nil
            }
            index = token.sessionIndex
        }
        guard let handle = seals.handle(index), handle.key.requestor == RequestorID(requestor.id) else { return nil }
        return handle
    }

    private func verified(_ text: String) throws(Fault) -> StoredTokenClaims? {
        do throws(StoredTokenRejection) {
            return try verifier.verify(text)
        } catch {
            switch error {
            case .malformed: throw Fault(.invalidRequest, "What was sent is no authentication token.")
            case .foreign:
                metrics.foreignTokens.increment()
                logger.info("foreign_token")
                return nil
            }
        }
    }

    /// Where the token alone is shown, whoever signed in must still be served: their client, and their application at the requestor.
    private func requireServed(_ client: ClientID, _ requestor: RequestorID, _ catalogue: Catalogue) async throws(Fault) {
        let application = try await ClientDirectory(store: store).application(of: client, in: catalogue)
        guard let application, application.requestorIDs.contains(where: { RequestorID($0) == requestor }) else { throw Self.over }
    }
}

/// Seals stored tokens and device ids. It derives two keys from the one that the operator keeps, so that no key serves two purposes (clients §3).
package final class StoredTokenSeals: Sendable {
    private let sessions: SymmetricKeyRing
    private let devices: SymmetricKeyRing

    /// - Parameter older: Keys from before, newest first: what they sealed opens.
    package init(_ key: SymmetricKey, older: [SymmetricKey] = []) throws(CryptographyError) {
        sessions = SymmetricKeyRing(current: try Self.derived(Self.session, key), older: try Self.derived(Self.session, older))
        devices = SymmetricKeyRing(current: try Self.derived(Self.device, key), older: try Self.derived(Self.device, older))
    }

    /// Those from before stay behind them for as long as the service runs.
    package func adopt(_ key: SymmetricKey, older: [SymmetricKey]) throws(CryptographyError) {
        let (session, device) = (try Self.derived(Self.session, key), try Self.derived(Self.device, key))
        let (olderSessions, olderDevices) = (try Self.derived(Self.session, older), try Self.derived(Self.device, older))
        sessions.adopt(current: session, older: olderSessions)
        devices.adopt(current: device, older: olderDevices)
    }

    /// The session that a stored token stands for.
    package struct Handle: Hashable, Sendable {
        package let session: SessionID
        package let key: SessionKey
    }

    /// Opaque to whoever keeps it: neither the device's id nor the session's can be read from it.
    /// - Throws: `internal`.
    package func close(_ handle: Handle) throws(Fault) -> String {
        try Self.close(
            [handle.session.text, handle.key.requestor.text, handle.key.device.text].joined(separator: "\0"), sessions.current, Self.session)
    }

    /// - Returns: `nil` for what no key of ours has sealed.
    package func handle(_ sealed: String) -> Handle? {
        guard let parts = Self.open(sealed, sessions, Self.session)?.split(separator: "\0", maxSplits: 2, omittingEmptySubsequences: false),
            parts.count == 3
        else { return nil }
        let key = SessionKey(device: DeviceID(String(parts[2])), requestor: RequestorID(String(parts[1])))
        return Handle(session: SessionID(String(parts[0])), key: key)
    }

    /// - Throws: `internal`.
    package func close(_ device: DeviceID) throws(Fault) -> String { try Self.close(device.text, devices.current, Self.device) }

    /// - Returns: `nil` for what no key of ours has sealed.
    package func device(_ sealed: String) -> DeviceID? { Self.open(sealed, devices, Self.device).map { DeviceID($0) } }

    /// The longest text that is looked at, in octets: a device's id has at most 2048, and Base64 a third more.
    private static let longest = 4096
    private static let session = "boxoffice stored session"
    private static let device = "boxoffice device id"

    private static func close(_ text: String, _ key: SymmetricKey, _ purpose: String) throws(Fault) -> String {
        do {
            return Base64.url.encode(try AESGCM.seal(Array(text.utf8), key: key, context: Array(purpose.utf8)))
        } catch {
            throw Fault(.internal, "An internal fault occurred.", cause: error)
        }
    }

    private static func open(_ sealed: String, _ keys: SymmetricKeyRing, _ purpose: String) -> String? {
        guard !sealed.isEmpty, sealed.utf8.count <= longest, let bytes = Base64.url.decode(sealed) else { return nil }
        for key in keys.all {
            if let text = try? AESGCM.open(bytes, key: key, context: Array(purpose.utf8)) { return String(validating: text, as: UTF8.self) }
        }
        return nil
    }

    private static func derived(_ purpose: String, _ key: SymmetricKey) throws(CryptographyError) -> SymmetricKey {
        try SymmetricKey(bytes: HMACSHA256.authenticate(Array(purpose.utf8), key: key))
    }

    private static func derived(_ purpose: String, _ keys: [SymmetricKey]) throws(CryptographyError) -> [SymmetricKey] {
        var all: [SymmetricKey] = []
        for key in keys { all.append(try derived(purpose, key)) }
        return all
    }
}
