internal import Clocks
internal import Cryptography
internal import MediaTokenVerifier

/// The bytes of a media token in the reference form (rest-v1 §7).
enum ReferenceTokenForm {
    /// What is signed: the root element. Elements stand in the documented order; `proxyMvpdId` is there only behind a proxy.
    /// - Parameter copy: Of the issuing service; the issue time stands in a time zone of that many minutes, so that no two copies write the
    ///   same bytes.
    static func payload(_ facts: MediaTokenFacts, copy: Int = 0) -> String {
        var fields = [
            ("sessionGUID", facts.sessionGUID),
            ("requestorID", facts.requestor),
            ("resourceID", facts.resource),
            ("ttl", String(facts.ttl.wholeMilliseconds)),
            ("issueTime", IssueTime.format(facts.issuedAt, zone: Int64(copy))),
            ("mvpdId", facts.mvpd),
        ]
        if let proxy = facts.proxyMvpd { fields.append(("proxyMvpdId", proxy)) }
        let elements = fields.map { "<\($0)>\(XMLText.escape($1))</\($0)>" }.joined()
        return "<shortAuthorizationToken>\(elements)</shortAuthorizationToken>"
    }

    /// - Parameter signature: Over the UTF-8 bytes of `payload`.
    static func serialize(payload: String, signature: [UInt8]) -> String {
        // The tag after the signature lacks its slash: verifiers in the field expect exactly that.
        let text = "<signatureInfo>\(Base64.standard.encode(signature))<signatureInfo>\(payload)"
        return Base64.standard.encode(Array(text.utf8))
    }
}
