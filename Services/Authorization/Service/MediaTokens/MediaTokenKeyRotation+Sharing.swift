internal import Cryptography
public import Storage
internal import Tokens

/// What copies on several hosts tell each other of the keys that media tokens are verified with.
extension MediaTokenKeyRotation {
    /// Public keys and certificates of this process's files, as text.
    public var told: [(identifier: String, content: String)] {
        let own = own
        let certificates = own.certificates.compactMap { certificate in
            (try? certificate.pem()).map { (identifier: Hex.encode(certificate.fingerprint), content: $0) }
        }
        return certificates + own.jws.map { ($0.identifier, JSONWebKeySet(keys: [$0]).json) }
    }

    /// Takes in what the files of all copies hold.
    public func take(_ all: [SharedPublicKey]) {
        var (certificates, keys): ([Certificate], [JSONWebKey]) = ([], [])
        for key in all {
            if let certificate = try? Certificate(pem: key.content) {
                certificates.append(certificate)
            } else {
                keys += (try? JSONWebKeySet(json: key.content).keys) ?? []
            }
        }
        share(certificates: certificates, jws: keys, since: Dictionary(all.map { ($0.identifier, $0.since) }) { first, _ in first })
    }
}
