internal import Clocks
internal import Cryptography
internal import MediaTokenVerifier

/// The bytes of a media token in the reference form (rest-v1 §7).
enum ReferenceTokenForm {
    /// The signed text: the root element, in UTF-8. Elements stand in the documented order; `proxyMvpdId` is there only behind a proxy.
    /// - Parameter copy: The number of the issuing service's copy; the issue time stands in a time zone of that many minutes, so that no two copies
    ///   write the same bytes.
    static func payload(_ facts: MediaTokenFacts, copy: Int = 0) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(512)
        append("<shortAuthorizationToken>", to: &text)
        append("sessionGUID", facts.sessionGUID, to: &text)
        append("requestorID", facts.requestor, to: &text)
        append("resourceID", facts.resource, to: &text)
        append("ttl", String(facts.ttl.wholeMilliseconds), to: &text)
        append("issueTime", IssueTime.format(facts.issuedAt, zone: Int64(copy)), to: &text)
        append("mvpdId", facts.mvpd, to: &text)
        if let proxy = facts.proxyMvpd { append("proxyMvpdId", proxy, to: &text) }
        append("</shortAuthorizationToken>", to: &text)
        return text
    }

    /// - Parameter signature: Over `payload`.
    static func serialize(payload: [UInt8], signature: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(payload.count + 2 * signature.count)
        append("<signatureInfo>", to: &text)
        text.append(contentsOf: Base64.standard.encode(signature).utf8)
        // The tag after the signature lacks its slash: verifiers in the field expect exactly that.
        append("<signatureInfo>", to: &text)
        text.append(contentsOf: payload)
        return Base64.standard.encode(text)
    }

    private static func append(_ element: String, _ content: String, to text: inout [UInt8]) {
        append("<", to: &text)
        append(element, to: &text)
        append(">", to: &text)
        append(XMLText.escape(content), to: &text)
        append("</", to: &text)
        append(element, to: &text)
        append(">", to: &text)
    }

    private static func append(_ part: String, to text: inout [UInt8]) { text.append(contentsOf: part.utf8) }
}
