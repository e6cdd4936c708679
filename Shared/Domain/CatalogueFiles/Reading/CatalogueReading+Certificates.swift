internal import Catalogue
internal import Contracts
internal import Cryptography
internal import StrictJson

extension CatalogueReading {
    /// The certificates of a programmer or a requestor (dashboard §2).
    func certificates(_ object: JsonObject) -> [Contracts.Certificate] {
        var seen: Set<OctetText> = []
        return object.optional("certificates")?.array { value -> Contracts.Certificate? in
            guard let certificate = certificate(value) else { return nil }
            if !seen.insert(certificate.id).inserted { value.problem("is there twice") }
            return certificate
        } ?? []
    }

    private func certificate(_ value: JsonValue) -> Contracts.Certificate? {
        value.object { object -> Contracts.Certificate? in
            let isRevoked = object.flag("revoked")
            let encrypts = object.flag("encryptsUserMetadata")
            guard let text = object.required("certificate"), let der = certificates.encryptionCertificate(text, isRevoked: isRevoked) else {
                return nil
            }
            return Contracts.Certificate(id: Hex.encode(SHA256.hash(der)), der: der, encryptsUserMetadata: encrypts, revoked: isRevoked)
        } ?? nil
    }

    /// A certificate that has ended since it was written down keeps nothing from being used. The key is left out until there is another (rest-v1 §8).
    func checkEncryption(_ key: JsonValue, _ requestor: Requestor) {
        let programmer = programmers[requestor.programmerID]
        let catalogue = Catalogue(Configuration(programmers: programmer.map { [$0] } ?? []))
        guard catalogue.metadataCertificate(of: requestor, now: certificates.now) == nil else { return }
        let named = requestor.certificates.filter(\.encryptsUserMetadata) + (programmer?.certificates.filter(\.encryptsUserMetadata) ?? [])
        if named.contains(where: { !$0.revoked }) {
            warn("is left out: no certificate of '\(requestor.id)' and its programmer is valid today", at: key.path)
        } else {
            key.problem("is to be encrypted, but neither '\(requestor.id)' nor its programmer has a certificate that encrypts user metadata")
        }
    }
}
