public import Clocks
public import Contracts
public import Cryptography
internal import Memos

extension Catalogue {
    /// The certificate for encrypting the user metadata of a requestor: the newest valid one with that usage. So a backup takes over when the primary
    /// one is revoked or has expired (rest-v1 §8). A requestor's own certificates take precedence over its programmer's.
    /// - Returns: `nil` when there is none: values that must be encrypted are then left out.
    public func metadataCertificate(of requestor: Requestor, now: Timestamp) -> Cryptography.Certificate? {
        let own = requestor.certificates.filter(\.encryptsUserMetadata)
        let candidates = own.isEmpty ? programmer(of: requestor)?.certificates ?? [] : own
        return Self.newestEncrypting(candidates, now: now)
    }

    /// The padding that the requestor's programmer asks for.
    public func metadataEncryption(of requestor: Requestor) -> MetadataEncryption {
        programmer(of: requestor)?.metadataEncryption ?? .oaepSha256
    }

    /// They are looked at with each answer that tells something of a person, and change with the catalogue only.
    private static let parsed = Memo<[UInt8], Cryptography.Certificate?>(capacity: 1024)

    /// The newest; the last of several that began at the same time.
    public static func newestEncrypting(_ certificates: [Contracts.Certificate], now: Timestamp) -> Cryptography.Certificate? {
        certificates
            .filter { $0.encryptsUserMetadata && !$0.revoked }
            .compactMap { certificate in parsed.value(certificate.der) { try? Cryptography.Certificate(der: certificate.der) } }
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
