internal import Catalogue
package import Clocks
package import Contracts
internal import Cryptography
package import Faults
package import Identifiers
internal import Synchronization
package import Tokens

/// Finds the person that a service token names (rest-v2 §1.3). The token is one of our own, while its device is tied to the person. Otherwise it
/// comes from an identity service that the catalogue registers for the caller's programmer.
package final class ServiceTokenCheck: Sendable {
    private struct State {
        var others: [OctetText: JSONWebKeySet] = [:]
        var version: UInt64?
    }

    private let keys: ServiceTokenKeys
    private let store: SqlAuthenticationStore
    private let clock: any WallClock
    private let state = Mutex(State())

    package init(keys: ServiceTokenKeys, store: SqlAuthenticationStore, clock: any WallClock) {
        self.keys = keys
        self.store = store
        self.clock = clock
    }

    /// The identity whose logins the caller may take over.
    /// - Parameter token: As it was sent; empty: none was.
    /// - Returns: `nil` for a token that does not hold.
    /// - Throws: Faults of the store.
    package func identity(of token: String, for client: AuthenticatedClient) async throws(Fault) -> ServiceIdentity? {
        guard !token.isEmpty, let claims = try? verifier(in: client.catalogue).verify(token, now: clock.now()) else { return nil }
        guard let tie = claims.tie else {
            let issuer = client.catalogue.configuration.serviceTokenIssuers.first { OctetText($0.issuer) == OctetText(claims.issuer) }
            return issuer?.programmerIDs.contains(client.application.programmerID) == true ? ServiceIdentity(claims) : nil
        }
        return try await device(tie, of: claims, for: client).map { ServiceIdentity($0.person) }
    }

    /// The device that one of our own tokens was made for.
    /// - Parameter remembrance: How long the token may be over.
    /// - Throws: `service_token_invalid`, `service_token_expired`; faults of the store.
    package func device(of token: String, for client: AuthenticatedClient, remembrance: Duration = .zero) async throws(Fault) -> ServiceTokenDevice {
        let claims: ServiceTokenClaims
        do throws(TokenRejection) {
            claims = try verifier(in: client.catalogue).verify(token, now: clock.now(), remembrance: remembrance)
        } catch .expired {
            throw Fault(.serviceTokenExpired, "The service token is over.")
        } catch {
            throw Fault(.serviceTokenInvalid, "The service token is not accepted.", cause: error)
        }
        guard let tie = claims.tie, let device = try await device(tie, of: claims, for: client) else {
            throw Fault(.serviceTokenInvalid, "The service token is not accepted.")
        }
        return device
    }

    private func device(_ tie: String, of claims: ServiceTokenClaims, for client: AuthenticatedClient) async throws(Fault) -> ServiceTokenDevice? {
        let device = try await store.serviceDevice(ServiceTieID(tie))
        guard let device, device.person == ServicePersonID(claims.subject),
            device.programmer == ProgrammerID(client.application.programmerID)
        else { return nil }
        return device
    }

    /// The keys of identity services are read once per version of the catalogue; a service whose keys cannot be read is not believed.
    private func verifier(in catalogue: Catalogue) -> ServiceTokenVerifier {
        let others = state.withLock { state in
            if state.version != catalogue.version {
                let sets = catalogue.configuration.serviceTokenIssuers.compactMap { issuer in
                    (try? JSONWebKeySet(json: issuer.jwks)).map { (issuer.issuer, $0) }
                }
                state.others = Dictionary(texts: sets) { first, _ in first }
                state.version = catalogue.version
            }
            return state.others
        }
        return ServiceTokenVerifier(own: keys, others: others)
    }
}

extension ServiceIdentity {
    /// SHA-256 of issuer ‖ 0x00 ‖ subject: neither is stored.
    fileprivate init(_ claims: ServiceTokenClaims) {
        self.init(Base64.url.encode(SHA256.hash(Array(claims.issuer.utf8) + [0] + Array(claims.subject.utf8))))
    }

    /// The identity of a person of our own tokens. No issuer is empty, so no other identity begins with 0x00.
    fileprivate init(_ person: ServicePersonID) {
        self.init(Base64.url.encode(SHA256.hash([0] + Array(person.text.utf8))))
    }

    /// The identity of a device's person.
    package init(of device: ServiceTokenDevice) { self.init(device.person) }
}

/// A device of a person whom a programmer names by service tokens (rest-v2 §2.14).
package struct ServiceTokenDevice: Hashable, Sendable {
    /// The number of devices that a person may have; the one that has not been seen for longest goes.
    package static let most = 64

    /// In its tokens; a device that joins again after it was taken out has another one.
    package let tie: ServiceTieID
    package let person: ServicePersonID
    package let programmer: ProgrammerID
    package let device: DeviceID
    package var information: DeviceInformation
    /// It got its last token at this time.
    package var seenAt: Timestamp
    /// That can be exchanged no more at this time.
    package var expiresAt: Timestamp
}

/// The tie between a device and a person.
package struct ServiceTokenTie: Sendable {
    /// A person is remembered without a token for this long: no session lives as long.
    package static let personLifetime: Duration = SessionRecord.longestLife + .seconds(30 * 86_400)

    package let programmer: ProgrammerID
    package let device: DeviceID
    package let information: DeviceInformation
    package let now: Timestamp
    package let expiresAt: Timestamp
    /// For a device that has no tie to the person.
    package let newTie: ServiceTieID

    package init(
        programmer: ProgrammerID, device: DeviceID, information: DeviceInformation, now: Timestamp, expiresAt: Timestamp, newTie: ServiceTieID
    ) {
        (self.programmer, self.device, self.information, self.now) = (programmer, device, information, now)
        (self.expiresAt, self.newTie) = (expiresAt, newTie)
    }

    var personExpiresAt: Timestamp { now + Self.personLifetime }
}

/// A programmer names a person in this way, as it is kept.
package struct ServicePersonName: Hashable, Sendable {
    package let digest: [UInt8]
    /// For a person whom the store does not know.
    package let newID: ServicePersonID

    package init(digest: [UInt8], newID: ServicePersonID) {
        (self.digest, self.newID) = (digest, newID)
    }
}

/// Six digits by which a device joins a person, once.
///
/// It is stored in clear, as a registration code is. It is on a screen and lives for ten minutes, and a digest of 20 bits would hide nothing.
package struct ServiceLinkCode: Hashable, Sendable {
    package static let lifetime: Duration = .seconds(600)
    static let length = 6

    package let code: String
    package let person: ServicePersonID
    package let programmer: ProgrammerID
    package let expiresAt: Timestamp

    package init(code: String, person: ServicePersonID, programmer: ProgrammerID, expiresAt: Timestamp) {
        (self.code, self.person, self.programmer, self.expiresAt) = (code, person, programmer, expiresAt)
    }

    package static func isCode(_ text: String) -> Bool { text.utf8.count == length && text.utf8.allSatisfy { (0x30...0x39).contains($0) } }

    /// Every code is equally likely.
    package static func random(from source: any RandomSource) -> String {
        var digits: [UInt8] = []
        while digits.count < length {
            // 250 and more is thrown away: folding it back would make some digits likelier.
            digits += source.bytes(length).filter { $0 < 250 }.prefix(length - digits.count).map { 0x30 + $0 % 10 }
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
