internal import SandboxKit
internal import Synchronization

/// The attack in each MVPD's next answer.
final class EvilMode: Sendable {
    private let next = Mutex<[String: Attack]>([:])

    func set(_ attack: Attack?, for mvpd: String) { next.withLock { $0[mvpd] = attack } }

    /// The attack for this answer; the answers after it are genuine again.
    func take(for mvpd: String) -> Attack? { next.withLock { $0.removeValue(forKey: mvpd) } }

    func reset() { next.withLock { $0.removeAll() } }
}

/// The message that an attacker, or a faulty MVPD, sends in place of the genuine answer; each attack is derived from that answer (mvpd §7).
enum Attack: String, CaseIterable, Codable, Sendable {
    // Signatures.
    case xsw1, xsw2, xsw3, xsw4, xsw5, xsw6, xsw7, xsw8
    case unsigned, emptySignature, noReference, twoReferences, emptyReference, foreignReference, xpointerReference, httpReference, fileReference
    case repeatedID, otherIDs, strangersKey, hmac, noAlgorithm, sha1, md5, xslt, xpath, comments, furtherTransform, relativeNamespace, object,
        manifest
    case unsignedStatus, changedOctet
    // XML.
    case fileEntity, httpEntity, parameterEntity, manyEntities, otherEncoding, depth, size, comment, processingInstruction, unboundPrefix
    case repeatedAttribute, brokenText, trailingData, cdata, urlSafeBase64, brokenBase64
    // Protocol: signed anew by the MVPD's own key.
    case expired, notYetValid, noConfirmationEnd, confirmationBegins, foreignRecipient, foreignAudience, noAudience, secondAudience
    case foreignDestination, unsolicited, foreignRequest, stale, foreignIssuer, holderOfKey, unknownCondition, foreignNameFormat
    case withoutAssertion, failureWithAssertion, futureSignIn, noStatement
    // Encryption: of an MVPD that encrypts.
    case rsa15, changedCiphertext, changedKey
}

/// A genuine answer as text, to be modified. The text is the sandbox's own compact form, so elements can be found by their names.
struct GenuineAnswer {
    var text: String
    let provider: IdentityProvider
    /// An MVPD that the service provider knows under another key.
    let stranger: IdentityProvider?

    struct NotFound: Error {
        let name: String
    }

    /// The first element of that name, which must not contain another of it.
    func element(_ name: String, in text: String? = nil) throws -> String {
        let text = text ?? self.text
        guard let start = text.firstRange(of: "<\(name) ") ?? text.firstRange(of: "<\(name)>"),
            let end = text[start.upperBound...].firstRange(of: "</\(name)>")
        else { throw NotFound(name: name) }
        return String(text[start.lowerBound..<end.upperBound])
    }

    func replacing(_ old: String, _ new: String, in text: String? = nil) throws -> String {
        var text = text ?? self.text
        guard let range = text.firstRange(of: old) else { throw NotFound(name: old) }
        text.replaceSubrange(range, with: new)
        return text
    }

    /// The value of the first attribute of that name.
    func attribute(_ name: String, in text: String) throws -> String {
        guard let start = text.firstRange(of: " \(name)=\"")?.upperBound, let end = text[start...].firstIndex(of: "\"") else {
            throw NotFound(name: name)
        }
        return String(text[start..<end])
    }

    func withAttribute(_ name: String, _ value: String?, in text: String) throws -> String {
        let old = " \(name)=\"\(try attribute(name, in: text))\""
        return try replacing(old, value.map { " \(name)=\"\($0)\"" } ?? "", in: text)
    }

    /// The assertion about another person, with an ID of its own and without signature.
    func forgedAssertion(id: String = "_forged") throws -> String {
        let assertion = try element("saml:Assertion")
        let name = try element("saml:NameID", in: assertion)
        let forgedName = String(name.prefix { $0 != ">" }) + ">attacker</saml:NameID>"
        let renamed = try replacing(name, forgedName, in: assertion)
        return try withAttribute("ID", id, in: try replacing(try element("ds:Signature", in: renamed), "", in: renamed))
    }

    /// The answer with another assertion, validly signed by `signer`: every signature in it is made anew.
    func resigned(_ change: (String) throws -> String, by signer: IdentityProvider? = nil) throws -> String {
        let old = try element("saml:Assertion")
        let changed = try change(old)
        let signed = try sign(changed, signer ?? provider)
        let response = try replacing(old, signed)
        let isSigned = try response.components(before: "<saml:Assertion").contains("<ds:Signature")
        return isSigned ? try sign(response, signer ?? provider) : response
    }

    /// Makes the first signature of the element anew.
    func sign(_ text: String, _ signer: IdentityProvider) throws -> String {
        let identifier = try attribute("ID", in: text)
        let signature = try element("ds:Signature", in: text)
        let emptied = try replacing(
            try element("ds:SignatureValue", in: signature), "<ds:SignatureValue></ds:SignatureValue>",
            in: try replacing(try element("ds:DigestValue", in: signature), "<ds:DigestValue></ds:DigestValue>", in: signature))
        return try XmlSignature.sign(try replacing(signature, emptied, in: text), identifier: identifier, key: signer.key)
    }
}

extension String {
    fileprivate func components(before marker: String) throws -> String {
        guard let start = firstRange(of: marker)?.lowerBound else { throw GenuineAnswer.NotFound(name: marker) }
        return String(self[..<start])
    }
}

extension GenuineAnswer {
    /// Attacks on the parser (mvpd #53 to #63).
    func markup(_ attack: Attack, _ canary: String) throws -> String? {
        let name = try? element("saml:NameID")
        func inName(_ splinter: String) throws -> String {
            guard let name else { throw NotFound(name: "saml:NameID") }
            return try replacing(name, replacing("</saml:NameID>", splinter + ".evil</saml:NameID>", in: name))
        }
        switch attack {
        case .fileEntity: return "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/hostname\">]>" + text
        case .httpEntity: return "<!DOCTYPE a [<!ENTITY x SYSTEM \"\(canary)?entity\">]>" + text
        case .parameterEntity: return "<!DOCTYPE a [<!ENTITY % x SYSTEM \"\(canary)?parameter\"> %x;]>" + text
        case .manyEntities: return Self.manyEntities + text
        case .otherEncoding: return "<?xml version=\"1.0\" encoding=\"UTF-7\"?>" + text
        case .depth:
            let (open, close) = (String(repeating: "<x>", count: 10_000), String(repeating: "</x>", count: 10_000))
            return try replacing("<samlp:Status>", "<samlp:Extensions>\(open)\(close)</samlp:Extensions><samlp:Status>")
        case .comment: return try inName("<!-- -->")
        case .processingInstruction: return try inName("<?x y?>")
        case .cdata: return try inName("<![CDATA[x]]>")
        case .unboundPrefix: return try replacing("<samlp:Status>", "<nobody:x/><samlp:Status>")
        case .repeatedAttribute: return try replacing(" Version=\"2.0\"", " Version=\"2.0\" Version=\"2.0\"")
        case .trailingData: return text + "<x/>"
        default: return nil
        }
    }

    private static var manyEntities: String {
        let levels = (1...9).map { level in
            let references = String(repeating: "&a\(level - 1);", count: 10)
            return "<!ENTITY a\(level) \"\(references)\">"
        }
        return "<!DOCTYPE a [<!ENTITY a0 \"ha\">\(levels.joined())]>"
    }
}
