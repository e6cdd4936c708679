package import Catalogue
package import Clocks
package import Contracts
package import Faults
package import Logging
internal import Synchronization

/// A registered client: one installation of an application (rest-v1 §3.1). Never changes after it is stored.
package struct Client: Hashable, Sendable {
    package let id: ClientID
    let secretDigest: SecretDigest
    /// The software statement that it came with; the catalogue says whether that still counts.
    let softwareID: SoftwareID
    /// Empty when none was sent.
    package let redirectURI: String
    package let issuedAt: Timestamp
}

/// Finds the client that an id names: one that registered here, one that another house registered, or a key pair.
package struct ClientDirectory: Sendable {
    /// Comes before a pair's public key, where a client has its id; no other id has a colon.
    private static let keyMark = "key:"
    /// The scopes of apps with credentials that everybody may know, whatever their application has (clients §2).
    static let sharedScopes = BearerCheck.appScopes

    package let store: SqlAuthenticationStore

    package init(store: SqlAuthenticationStore) {
        self.store = store
    }

    package static func id(ofKey publicKey: String) -> ClientID { ClientID(keyMark + publicKey) }

    /// - Returns: `nil` when the client or its application is there no more.
    package func application(of client: ClientID, in catalogue: Catalogue) async throws(Fault) -> Application? {
        if client.text.utf8.starts(with: Self.keyMark.utf8) {
            return catalogue.signingKey(String(client.text.dropFirst(Self.keyMark.count)))?.application
        }
        if let known = try await store.client(client) {
            return catalogue.application(softwareID: known.softwareID.text, registeredAtMilliseconds: known.issuedAt.milliseconds)
        }
        return catalogue.importedClient(client.text)?.application
    }

    /// The scopes of a client that registered with a statement.
    package static func scopes(of application: Application, software: SoftwareID) -> [String] {
        software.text.utf8.starts(with: Catalogue.legacySoftware.utf8) ? sharedScopes : application.scopes
    }
}

/// The clients that were noted as used within the last day, so that a client costs one write a day.
final class ClientUses: Sendable {
    private static let capacity = 65_536
    /// How exactly the last use is known.
    static let interval: Duration = .seconds(86_400)

    private let noted = Mutex<[ClientID: Timestamp]>([:])

    /// - Returns: True once a day for each client; more often when there are more of them than can be remembered.
    func isNews(_ client: ClientID, now: Timestamp) -> Bool {
        noted.withLock { noted in
            if let last = noted[client], now - last < Self.interval { return false }
            if noted.count >= Self.capacity {
                noted = noted.filter { now - $0.value < Self.interval }
                if noted.count >= Self.capacity { noted = [:] }
            }
            noted[client] = now
            return true
        }
    }
}

/// Clients that nobody uses any more: they are forgotten, and register again (rest-v1 §3.1).
package struct UnusedClients: Sendable {
    package let bearers: BearerCheck
    package let store: SqlAuthenticationStore
    package let clock: any WallClock
    package let logger: Logger

    /// Forgets them once an hour until it is cancelled.
    /// - Parameters:
    ///   - days: For a client that has no session, profile or live code.
    ///   - idleDays: For one that never made any.
    ///   - isMine: True when it is this copy's turn.
    package func forget(after days: Int, idleAfter idleDays: Int, isMine: @Sendable () async -> Bool = { true }) async {
        while (try? await Task.sleep(for: .seconds(3600))) != nil {
            if await isMine() { await forgetOnce(after: days, idleAfter: idleDays) }
        }
    }

    func forgetOnce(after days: Int, idleAfter idleDays: Int) async {
        let now = clock.now()
        var forgotten = 0
        do throws(Fault) {
            while true {
                let count = try await store.forgetClients(
                    usedBefore: now - .seconds(86_400 * Int64(days)), idleBefore: now - .seconds(86_400 * Int64(idleDays)), now: now)
                forgotten += count
                if count == 0 { break }
            }
        } catch {
            logger.warning("clients.not_forgotten", metadata: ["reason": "\(error)"])
        }
        guard forgotten > 0 else { return }
        bearers.forgetTokens()
        logger.info("clients.forgotten", metadata: ["clients": "\(forgotten)"])
    }
}

/// The sender of a valid access token.
package struct AuthenticatedClient: Sendable {
    package let id: ClientID
    /// As it stands in the catalogue now.
    package let application: Application
    package let scopes: [String]
    package let expiresAt: Timestamp
    /// The version that the check was made against; the rest of the call uses the same.
    package let catalogue: Catalogue
    /// True: all installations of the app are this client, so that it proves the app and never a device (clients §2).
    package var isShared = false
    /// Those of the application's requestors that a key pair signs for; `nil`: all.
    var signsFor: [String]?

    /// The requestors that it may act for.
    package var requestors: [RequestorID] { (signsFor ?? application.requestorIDs).map(RequestorID.init) }

    func covers(_ requestor: RequestorID) -> Bool { requestors.contains(requestor) }

    package var contract: VerifiedClient {
        VerifiedClient(
            clientID: id.text, applicationID: application.id, scopes: scopes, requestorIDs: requestors.map(\.text),
            expiresAtMilliseconds: UInt64(clamping: expiresAt.milliseconds), isShared: isShared)
    }
}

/// A device's call whose sender, requestor, device and device information have been checked, in that order (rest-v1 §2.8).
package struct DeviceCaller: Sendable {
    package let client: AuthenticatedClient
    /// Empty only where a call may lack it.
    package let requestor: RequestorID
    package let device: DeviceID
    package let information: DeviceInformation
    package let userAgent: String
    package let deviceType: String
    package let claims: DeviceClaims
    /// The platform's identity of its user, if the proof is valid (rest-v1 §2.6).
    package let identity: PlatformIdentity?
    /// The person that a service token names, if the token is valid (rest-v2 §1.3).
    package var serviceIdentity: ServiceIdentity?
    /// The status that the platform's framework gave the app; `nil`: nothing was sent.
    package var partner: PartnerStatus?

    package var catalogue: Catalogue { client.catalogue }

    /// The same caller at a requestor.
    package func at(_ requestor: RequestorID) -> DeviceCaller {
        DeviceCaller(
            client: client, requestor: requestor, device: device, information: information, userAgent: userAgent, deviceType: deviceType,
            claims: claims, identity: identity, serviceIdentity: serviceIdentity, partner: partner)
    }
}

/// The proof of a call's sender, and the API: a bearer, or a signature of the sender's own.
package struct Credentials: Sendable {
    package let accessToken: String
    package let signed: SignedRequest?
    package let api: ApiVersion

    package init(accessToken: String, signed: SignedRequest? = nil, api: ApiVersion = .v1) {
        self.accessToken = accessToken
        self.signed = signed
        self.api = api
    }

    package var isEmpty: Bool { accessToken.isEmpty && signed == nil }
}

extension DeviceCall {
    package var credentials: Credentials { Credentials(accessToken: accessToken, signed: signedRequest, api: api) }
}

extension VerifyAccessTokenRequest {
    package var credentials: Credentials { Credentials(accessToken: accessToken, signed: signedRequest, api: api) }
}

extension RegistrationCodeRequest {
    package var credentials: Credentials { Credentials(accessToken: accessToken, signed: signedRequest, api: api) }
}

extension SessionByCodeRequest {
    package var credentials: Credentials { Credentials(accessToken: accessToken, signed: signedRequest, api: api) }
}
