import Clocks
import Faults
import Synchronization

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

extension InMemoryStore: SecretStore {
    func put(_ secret: SealedSecret) async throws(Fault) -> Bool? {
        state.withLock { state in
            let known = state.secrets[secret.reference]
            guard known == nil || known?.owner == secret.owner else { return nil }
            state.secrets[secret.reference] = secret
            return known != nil
        }
    }

    func sealedSecret(_ reference: SecretReference) async throws(Fault) -> SealedSecret? { state.withLock { $0.secrets[reference] } }

    func sealedSecrets() async throws(Fault) -> [SealedSecret] {
        state.withLock { $0.secrets.values.sorted { $0.reference.text < $1.reference.text } }
    }

    func reseal(_ secret: SealedSecret, as sealed: [UInt8]) async throws(Fault) {
        state.withLock { state in
            guard let known = state.secrets[secret.reference], known.sealed == secret.sealed else { return }
            state.secrets[secret.reference] = SealedSecret(
                reference: known.reference, owner: known.owner, sealed: sealed, writtenAt: known.writtenAt)
        }
    }
}

extension InMemoryStore: NonceStore {
    func takeNonce(_ digest: [UInt8], until end: Timestamp) async throws(Fault) -> Bool {
        state.withLock { $0.nonces.insert(digest).inserted }
    }
}

extension InMemoryStore: AnnouncementStore {
    func announcesIssuer(_ issuer: String) async throws(Fault) -> Bool { state.withLock { $0.announcedIssuers.contains(issuer) } }

    func note(_ issuer: String, announcesIssuer: Bool, at moment: Timestamp) async throws(Fault) {
        state.withLock { if announcesIssuer { $0.announcedIssuers.insert(issuer) } else { $0.announcedIssuers.remove(issuer) } }
    }
}

/// One copy alone: nobody to tell.
extension InMemoryStore: SignInReportStore {}
