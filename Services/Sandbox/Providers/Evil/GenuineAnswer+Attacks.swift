internal import SandboxKit
internal import Clocks

extension GenuineAnswer {
    /// The value of the SAMLResponse field.
    /// - Parameter canary: An address at which the test counts requests.
    func attacked(by attack: Attack, at now: Timestamp, canary: String) throws -> String {
        switch attack {
        case .urlSafeBase64: "-_" + Base64.text(Array(text.utf8)).dropFirst(2)
        case .brokenBase64: String(Base64.text(Array(text.utf8)).dropLast(3)) + " =="
        case .brokenText: Base64.text(Array(text.utf8.prefix(text.utf8.count - 20)) + [0xC3, 0x28] + Array(text.utf8.suffix(20)))
        case .size: String(repeating: "A", count: 300 * 1024)
        default: Base64.text(Array(try message(attack, now, canary).utf8))
        }
    }

    private func message(_ attack: Attack, _ now: Timestamp, _ canary: String) throws -> String {
        if let wrapped = try wrapped(attack) { return wrapped }
        if let changed = try changedSignature(attack, canary) { return changed }
        if let markup = try markup(attack, canary) { return markup }
        if let encrypted = try encrypted(attack) { return encrypted }
        return try protocolViolation(attack, now)
    }

    /// Signature wrapping: the signed element stays unchanged, and a forged one takes the place that readers look at (mvpd #21 to #28).
    private func wrapped(_ attack: Attack) throws -> String? {
        let assertion = try? element("saml:Assertion")
        guard let assertion else { return nil }
        let signature = try element("ds:Signature", in: assertion)
        func forgedWith(_ inner: String) throws -> String { try replacing("</saml:Issuer>", "</saml:Issuer>" + inner, in: forgedAssertion()) }
        switch attack {
        case .xsw1:
            let shell = try replacing("<ds:KeyInfo>", "<ds:Object>\(text)</ds:Object><ds:KeyInfo>", in: signature)
            return try replacing(assertion, forgedWith(shell), in: try withAttribute("ID", "_outer", in: text))
        case .xsw2:
            return try replacing(assertion, text + forgedWith(signature), in: try withAttribute("ID", "_outer", in: text))
        case .xsw3: return try replacing(assertion, forgedAssertion() + assertion)
        case .xsw4: return try replacing(assertion, forgedWith(assertion))
        case .xsw5:
            return try replacing(assertion, forgedWith(signature) + replacing(signature, "", in: assertion))
        case .xsw6:
            let stripped = try replacing(signature, "", in: assertion)
            return try replacing(assertion, forgedWith(replacing("</ds:Signature>", stripped + "</ds:Signature>", in: signature)))
        case .xsw7: return try replacing("<samlp:Status>", "<samlp:Extensions>\(forgedAssertion())</samlp:Extensions><samlp:Status>")
        case .xsw8:
            let stripped = try replacing(signature, "", in: assertion)
            let shell = try replacing("</ds:Signature>", "<ds:Object>\(stripped)</ds:Object></ds:Signature>", in: signature)
            return try replacing(assertion, forgedWith(shell))
        default: return nil
        }
    }

    private func encrypted(_ attack: Attack) throws -> String? {
        switch attack {
        case .rsa15: return try sign(try replacing("xmlenc#rsa-oaep-mgf1p", "xmlenc#rsa-1_5"), provider)
        case .changedKey: return try sign(try changedCipher(first: true), provider)
        case .changedCiphertext: return try sign(try changedCipher(first: false), provider)
        default: return nil
        }
    }

    /// One octet of the wrapped key, which comes first, or of the content.
    private func changedCipher(first: Bool) throws -> String {
        let opening = "<xenc:CipherValue>"
        let places = text.ranges(of: opening)
        guard let place = first ? places.first : places.last else { throw NotFound(name: opening) }
        var changed = text
        let at = changed.index(place.upperBound, offsetBy: 40)
        changed.replaceSubrange(at...at, with: changed[at] == "A" ? "B" : "A")
        return changed
    }
}
