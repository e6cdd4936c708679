public import Clocks
public import Contracts
public import Cryptography

extension Catalogue {
    /// The certificate to which the user metadata of a requestor are encrypted: the newest valid one that is meant for it; so a backup serves
    /// when the primary one is revoked or expired (rest-v1 §8). A requestor's own come in place of its programmer's.
    /// - Returns: `nil` when there is none: what has to be encrypted is then left out.
    public func metadataCertificate(of requestor: Requestor, now: Timestamp) -> Cryptography.Certificate? {
        let own = requestor.certificates.filter(\.encryptsUserMetadata)
        let candidates = own.isEmpty ? programmer(of: requestor)?.certificates ?? [] : own
        return Self.newestEncrypting(candidates, now: now)
    }

    /// The padding that the requestor's programmer asks for.
    public func metadataEncryption(of requestor: Requestor) -> MetadataEncryption {
        programmer(of: requestor)?.metadataEncryption ?? .oaepSha256
    }

    /// Of several that began at the same time, the last.
    public static func newestEncrypting(_ certificates: [Contracts.Certificate], now: Timestamp) -> Cryptography.Certificate? {
        certificates
            .filter { $0.encryptsUserMetadata && !$0.revoked }
            .compactMap { try? Cryptography.Certificate(der: $0.der) }
            .filter { $0.isValid(at: now) }
            .reduce(nil) { best, next in
                guard let best, next.notBefore < best.notBefore else { return next }
                return best
            }
    }

    /// The custom URL schemes under which apps of a requestor may be reached: its own and its programmer's.
    public func customSchemes(of requestor: Requestor) -> [String] {
        requestor.customSchemes + (programmer(of: requestor)?.customSchemes ?? [])
    }
}
