package import Catalogue
internal import Clocks
internal import Contracts
internal import Cryptography
internal import Faults
internal import Logging
internal import Memos
internal import Synchronization
internal import Tokens

/// Finds out who a platform says that its user is (rest-v1 §2.6). A token that does not hold counts as none.
///
/// The digest of a checked token is remembered for as long as the catalogue stays the same: devices send the token on every call.
package final class PlatformIdentities: Sendable {
    private struct CheckedToken: Sendable {
        /// `nil`: it did not hold.
        let identity: PlatformIdentity?
        let expiresAt: Timestamp
        let version: UInt64
    }

    private struct Verifier: Sendable {
        let verifier: PlatformIdentityVerifier
        let version: UInt64
        /// Secrets are read anew then; `nil`: it has none.
        let endsAt: Timestamp?
    }

    private struct State {
        var checked: BoundedCache<[UInt8], CheckedToken>
        var verifier: Verifier?
    }

    /// Secrets serve as long before they are read again: a new one needs no restart.
    private static let fresh: Duration = .seconds(60)

    private let clock: any WallClock
    private let secrets: any ClientSecrets
    private let logger: Logger
    private let state: Mutex<State>

    /// - Parameters:
    ///   - secrets: Where the issuers' secrets are.
    ///   - capacity: The number of checked tokens that are remembered, at least 2.
    init(clock: any WallClock, secrets: any ClientSecrets, logger: Logger, capacity: Int = 16_384) {
        self.clock = clock
        self.secrets = secrets
        self.logger = logger
        state = Mutex(State(checked: BoundedCache(capacity: capacity)))
    }

    /// - Parameter token: As it was sent; empty: none was.
    package func identity(of token: String, in catalogue: Catalogue) async -> PlatformIdentity? {
        guard !token.isEmpty, !catalogue.configuration.platformIdentityIssuers.isEmpty else { return nil }
        let digest = SHA256.hash(token)
        let now = clock.now()
        let known = state.withLock { state in state.checked[digest] }
        if let known, known.version == catalogue.version { return now < known.expiresAt ? known.identity : nil }
        let verifier = await verifier(catalogue, now)
        let claims: PlatformIdentityClaims?
        do throws(TokenRejection) {
            claims = try verifier.verifier.verify(token, now: now)
        } catch .notYetValid {
            // It will hold later: nothing to remember.
            return nil
        } catch {
            // With another secret it may hold.
            if verifier.endsAt != nil { return nil }
            claims = nil
        }
        let identity = claims.map(PlatformIdentity.init(claims:))
        let entry = CheckedToken(identity: identity, expiresAt: claims?.expiresAt ?? now, version: catalogue.version)
        state.withLock { $0.checked[digest] = entry }
        return identity
    }

    /// The issuers' keys are read once per version of the catalogue, secrets once a minute. An issuer whose keys cannot be read is not believed.
    private func verifier(_ catalogue: Catalogue, _ now: Timestamp) async -> Verifier {
        if let known = state.withLock({ $0.verifier }), known.version == catalogue.version, known.endsAt.map({ now < $0 }) ?? true { return known }
        var trusts: [OctetText: PlatformIdentityTrust] = [:]
        var hasSecrets = false
        for issuer in catalogue.configuration.platformIdentityIssuers {
            if !issuer.secretReference.isEmpty || !issuer.encryptionAlgorithm.isEmpty { hasSecrets = true }
            if let trust = await trust(issuer) { trusts[OctetText(issuer.issuer)] = trust }
        }
        let verifier = Verifier(
            verifier: PlatformIdentityVerifier(trusts: trusts), version: catalogue.version, endsAt: hasSecrets ? now + Self.fresh : nil)
        state.withLock { $0.verifier = verifier }
        return verifier
    }

    private func trust(_ issuer: PlatformIdentityIssuer) async -> PlatformIdentityTrust? {
        let verification: PlatformIdentityTrust.Verification
        if issuer.secretReference.isEmpty {
            guard let keys = try? JSONWebKeySet(json: issuer.jwks) else { return nil }
            verification = .keys(keys)
        } else {
            guard let secret = await secret(issuer.secretReference, issuer) else { return nil }
            verification = .secret(Array(secret.utf8))
        }
        var encryption: PlatformIdentityTrust.Encryption?
        if !issuer.encryptionAlgorithm.isEmpty {
            guard let secret = await secret(issuer.encryptionSecretReference, issuer),
                let content = PlatformIdentityTrust.Encryption.Content(rawValue: issuer.contentEncryption)
            else { return nil }
            let key: PlatformIdentityTrust.Encryption.Key
            if issuer.encryptionAlgorithm == "dir" {
                guard let octets = Base64.url.decode(secret) else {
                    return refuse(issuer, issuer.encryptionSecretReference, "is no Base64url of a key")
                }
                key = .direct(octets)
            } else {
                guard let holder = try? RSAPrivateKey(pem: secret) else {
                    return refuse(issuer, issuer.encryptionSecretReference, "is no RSA private key in PEM, not encrypted and of 2048 bits at least")
                }
                key = .rsa(holder)
            }
            guard let pair = PlatformIdentityTrust.Encryption(key, content) else {
                return refuse(
                    issuer, issuer.encryptionSecretReference,
                    "has another length than \(issuer.contentEncryption) needs: 16 octets for A128GCM, 32 for A256GCM")
            }
            encryption = pair
        }
        guard let trust = PlatformIdentityTrust(verification, encryption: encryption) else {
            return refuse(
                issuer, issuer.secretReference, "is shorter than \(PlatformIdentityTrust.shortestSecret) octets, which HS256 needs (RFC 7518 §3.2)")
        }
        return trust
    }

    private func secret(_ reference: String, _ issuer: PlatformIdentityIssuer) async -> String? {
        do throws(Fault) {
            if let secret = try await secrets.secret(SecretReference(reference)) { return secret.text }
            logger.warning(
                "platform_issuer_unusable",
                metadata: ["issuer": "\(issuer.issuer)", "reason": "there is no secret '\(reference)', neither a file nor one that was written"])
        } catch {
            logger.warning(
                "platform_issuer_unusable", metadata: ["issuer": "\(issuer.issuer)", "reason": "the secret '\(reference)' cannot be read now"])
        }
        return nil
    }

    private func refuse(_ issuer: PlatformIdentityIssuer, _ reference: String, _ problem: String) -> PlatformIdentityTrust? {
        logger.warning("platform_issuer_unusable", metadata: ["issuer": "\(issuer.issuer)", "reason": "the secret '\(reference)' \(problem)"])
        return nil
    }
}

extension PlatformIdentity {
    /// SHA-256 of issuer ‖ 0x00 ‖ subject: neither is stored.
    fileprivate init(claims: PlatformIdentityClaims) {
        self.init(Base64.url.encode(SHA256.hash(Array(claims.issuer.utf8) + [0] + Array(claims.subject.utf8))))
    }
}
