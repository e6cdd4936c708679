internal import Catalogue
package import Clocks
internal import Contracts
internal import Cryptography
package import Faults
internal import Synchronization
package import Tokens

/// Finds out whom a service token names (rest-v2 §1.3): one of our own while its device is tied to the person, or one of an identity service that the catalogue
/// registers for the caller's programmer.
package final class ServiceTokenCheck: Sendable {
    private struct State {
        var others: [OctetText: JSONWebKeySet] = [:]
        var version: UInt64?
    }

    private let keys: ServiceTokenKeys
    private let store: any ServiceTokenStore
    private let clock: any WallClock
    private let state = Mutex(State())

    package init(keys: ServiceTokenKeys, store: any ServiceTokenStore, clock: any WallClock) {
        self.keys = keys
        self.store = store
        self.clock = clock
    }

    /// Whose logins the caller may take over.
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

    /// Of a person of our own tokens. No issuer is empty, so no other identity begins with 0x00.
    fileprivate init(_ person: ServicePersonID) {
        self.init(Base64.url.encode(SHA256.hash([0] + Array(person.text.utf8))))
    }

    /// Of a device's person.
    package init(of device: ServiceTokenDevice) { self.init(device.person) }
}
