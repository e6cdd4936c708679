import Foundation
import PairedTimes
import SamlProfile
import SamlSigner
import Testing

/// Encrypted assertions (mvpd §2.3 D).
struct EncryptionTests {
    private let world: World

    init() throws { world = try World.shared.get() }

    private func expected(_ change: (inout ExpectedResponse) throws -> Void = { _ in }) throws -> ExpectedResponse {
        try world.expected {
            $0.decryptionKeys = [try DecryptionKey(pem: world.serviceProvider.privateKeyPEM)]
            try change(&$0)
        }
    }

    /// A response with the assertion encrypted, after it was signed.
    private func encrypted(
        _ encrypter: Encrypter = Encrypter(), isSigned: Bool = true, signsResponse: Bool = false, for recipient: SignerIdentity? = nil,
        plaintext: (String) throws -> String = { $0 }, ciphertext: (String) throws -> String = { $0 }
    ) throws -> String {
        var assertion = AssertionTemplate()
        if !isSigned { assertion.signature = nil }
        let xml = isSigned ? try Signer.sign(assertion.xml, signatureOf: "Assertion", with: world.identityProvider) : assertion.xml
        let content = try ciphertext(try encrypter.encrypt(try plaintext(xml), for: recipient ?? world.serviceProvider))
        return try world.response {
            $0.content = content
            if signsResponse { $0.signature = SignatureTemplate() }
        }
    }

    private static func encrypter(_ uri: String, _ sessionKey: String) -> Encrypter {
        var encrypter = Encrypter()
        encrypter.content = (uri, sessionKey)
        return encrypter
    }

    private static let cbc = encrypter("http://www.w3.org/2001/04/xmlenc#aes256-cbc", "aes-256")

    @Test("mvpd #11: an assertion that is signed and then encrypted with AES-GCM", arguments: [128, 192, 256])
    func acceptsGCM(bits: Int) throws {
        let xml = try encrypted(Self.encrypter("http://www.w3.org/2009/xmlenc11#aes\(bits)-gcm", "aes-\(bits)"))
        #expect(try world.accepted(xml, try expected()).userID.rawValue == "k3Yq-0091")
        #expect(try world.accepted(xml, try expected { $0.encryption = .required }).userID.rawValue == "k3Yq-0091")
        #expect(try world.outcome(xml) == "enc.failed")
    }

    @Test("a key, or content, whose ciphertext is not there is refused", arguments: [0, 1])
    func refusesAbsentCiphertext(which: Int) throws {
        let xml = try encrypted(ciphertext: { text in
            let values = text.ranges(of: /<xenc:CipherValue>[^<]*<\/xenc:CipherValue>/)
            try #require(values.count == 2)
            return text.replacingCharacters(in: values[which], with: "AAAA")
        })
        #expect(try world.outcome(xml, try expected()) == "enc.failed")
    }

    @Test("an encrypted assertion has to be signed as the policy asks")
    func checksPolicyAfterDecryption() throws {
        let inner = try encrypted()
        let outer = try encrypted(isSigned: false, signsResponse: true)
        let both = try encrypted(signsResponse: true)
        let none = try encrypted(isSigned: false)
        func outcomes(_ policy: SignaturePolicy) throws -> [String] {
            try [inner, outer, both, none].map { xml in try world.outcome(xml, try expected { $0.signaturePolicy = policy }) }
        }
        #expect(try outcomes(.assertion) == ["OK", "sig.missing", "OK", "sig.missing"])
        #expect(try outcomes(.response) == ["sig.missing", "OK", "OK", "sig.missing"])
        #expect(try outcomes(.both) == ["sig.missing", "sig.missing", "OK", "sig.missing"])
    }

    @Test("a plain assertion is refused where encryption is required")
    func requiresEncryption() throws {
        #expect(try world.outcome(try world.response(), try expected { $0.encryption = .required }) == "enc.required")
    }

    @Test("mvpd #79: AES-CBC only inside a signed response")
    func checksCBC() throws {
        #expect(try world.outcome(try encrypted(Self.cbc), try expected()) == "enc.alg")
        #expect(try world.outcome(try encrypted(Self.cbc, signsResponse: true), try expected()) == "OK")
    }

    @Test("mvpd #79: RSA 1.5 is refused")
    func refusesRSA15() throws {
        var encrypter = Encrypter()
        encrypter.keyTransport = "http://www.w3.org/2001/04/xmlenc#rsa-1_5"
        #expect(try world.outcome(try encrypted(encrypter, signsResponse: true), try expected()) == "enc.alg")
    }

    @Test("mvpd #79: a wrong key, a changed key and a changed tag look the same")
    func failuresLookAlike() throws {
        let good = try encrypted()
        let values = good.components(separatedBy: "<xenc:CipherValue>")
        func changed(_ index: Int) -> String {
            var values = values
            let position = values[index].index(values[index].startIndex, offsetBy: 40)
            values[index].replaceSubrange(position...position, with: values[index][position] == "A" ? "B" : "A")
            return values.joined(separator: "<xenc:CipherValue>")
        }
        let reports = try [changed(1), changed(2), encrypted(for: world.stranger)].map { try world.report($0, try expected()) }
        for report in reports {
            guard case .rejected(let rejection) = report.verdict else {
                Issue.record("accepted")
                continue
            }
            #expect(rejection.reason == .encryptionFailed)
            #expect(rejection.explanation == "The assertion cannot be decrypted.")
        }
        #expect(Set(reports.map(\.trace)).count == 1)
    }

    /// Turns a bit of the octet of the content so far from its end, before anything is signed around it.
    private static func turningBit(fromEnd distance: Int) -> (String) throws -> String {
        { try turn(0x80, fromEnd: distance, ofValue: $0.components(separatedBy: "<xenc:CipherValue>").count - 1, $0) }
    }

    /// Turns the last bit of the encrypted key. The result is still a number below the modulus. A key that is encrypted for another recipient may be
    /// above it, which can be seen without the private key.
    private static func turningKey(_ encrypted: String) throws -> String { try turn(0x01, fromEnd: 1, ofValue: 1, encrypted) }

    private static func turn(_ bit: UInt8, fromEnd distance: Int, ofValue index: Int, counting count: Int = 3, _ encrypted: String) throws -> String {
        var values = encrypted.components(separatedBy: "<xenc:CipherValue>")
        try #require(values.count == count, "the keys', and the content's")
        let text = String(try #require(values[index].split(separator: "<").first))
        var octets = try #require(Data(base64Encoded: text, options: .ignoreUnknownCharacters))
        octets[octets.count - distance] ^= bit
        values[index] = values[index].replacingOccurrences(of: text, with: octets.base64EncodedString())
        return values.joined(separator: "<xenc:CipherValue>")
    }

    /// Faults that a sender must not be able to tell apart: bad key and bad tag. In AES-CBC they are bad key, bad padding, and good padding around
    /// garbage.
    private func failures(_ pair: String) throws -> [String] {
        switch pair {
        case "key and tag": return try [encrypted(ciphertext: Self.turningKey), encrypted(ciphertext: Self.turningBit(fromEnd: 1))]
        case "key and padding":
            return try [
                encrypted(Self.cbc, signsResponse: true, ciphertext: Self.turningKey),
                // An octet of the block before the last one turns the same octet of the last block: here the length of the padding.
                encrypted(Self.cbc, signsResponse: true, ciphertext: Self.turningBit(fromEnd: 17)),
            ]
        case "none of two keys and tag":
            // The tag is judged only after a key was opened; both are tried either way.
            let two = try rewrapped([(Self.plain, nil, world.serviceProvider), (Self.plain, nil, world.serviceProvider)])
            let first = try Self.turn(0x01, fromEnd: 1, ofValue: 1, counting: 4, two)
            return try [
                Self.turn(0x01, fromEnd: 1, ofValue: 2, counting: 4, first), Self.turn(0x80, fromEnd: 1, ofValue: 3, counting: 4, first),
            ]
        default:
            return try [
                encrypted(Self.cbc, signsResponse: true, ciphertext: Self.turningBit(fromEnd: 17)),
                encrypted(Self.cbc, signsResponse: true, ciphertext: Self.turningBit(fromEnd: 200)),
            ]
        }
    }

    @Test("mvpd #79: bad key, bad tag, bad padding: one text", arguments: ["key and tag", "key and padding", "padding and garbage"])
    func failuresHaveOneText(pair: String) throws {
        let reports = try failures(pair).map { try world.report($0, try expected()) }
        for report in reports {
            guard case .rejected(let rejection) = report.verdict else {
                Issue.record("accepted")
                continue
            }
            #expect(rejection.reason == .encryptionFailed && rejection.explanation == "The assertion cannot be decrypted.")
        }
        #expect(Set(reports.map(\.trace)).count == 1)
    }

    @Test(
        "mvpd #79: bad key, bad tag, bad padding: one time", .tags(.timing),
        arguments: ["key and tag", "key and padding", "padding and garbage", "none of two keys and tag"])
    func failuresTakeOneTime(pair: String) async throws {
        let (failures, expected) = (try failures(pair), try expected())
        let times = try await PairedTimes.measure(pairs: 300) {
            _ = try world.report(failures[0], expected)
        } _: {
            _ = try world.report(failures[1], expected)
        }
        #expect(times.gap < 0.1, "\(times)")
    }

    @Test("the second decryption key is used during a rollover")
    func usesSecondKey() throws {
        let expected = try expected { $0.decryptionKeys.insert(try DecryptionKey(pem: world.stranger.privateKeyPEM), at: 0) }
        #expect(try world.outcome(try encrypted(), expected) == "OK")
    }

    @Test(
        "a reference to ciphertext or key elsewhere is refused",
        arguments: [
            ("<xenc:CipherValue>", "<xenc:CipherReference URI=\"http://127.0.0.1:1/\"/><xenc:CipherValue>"),
            ("<xenc:EncryptedKey>", "<ds:RetrievalMethod URI=\"http://127.0.0.1:1/\"/><xenc:EncryptedKey>"),
            ("<xenc:EncryptedKey>", "<ds:RetrievalMethod/><xenc:EncryptedKey>"),
            ("#rsa-oaep-mgf1p\"/>", "#rsa-oaep-mgf1p\"><xenc:OAEPparams>AAAA</xenc:OAEPparams></xenc:EncryptionMethod>"),
        ])
    func refusesOtherForms(old: String, new: String) throws {
        #expect(try world.outcome(try encrypted().replacingFirst(old, with: new), try expected()) == "enc.alg")
    }

    @Test("an encrypted NameID or attribute is refused", arguments: ["EncryptedID", "EncryptedAttribute"])
    func refusesOtherCiphertext(name: String) throws {
        let xml = try world.response().replacingFirst("<saml:Conditions", with: "<saml:\(name)/><saml:Conditions")
        #expect(try world.outcome(xml, try expected()) == "enc.alg")
    }

    @Test("what was encrypted is checked like everything else")
    func checksPlaintext() throws {
        let doctype = try encrypted { "<!DOCTYPE x>" + $0 }
        #expect(try world.outcome(doctype, try expected()) == "xml.dtd")
        let split = try encrypted { $0.replacingFirst("k3Yq-0091", with: "k3Yq<!-- -->-0091") }
        #expect(try world.outcome(split, try expected()) == "xml.form")
        let changed = try encrypted { $0.replacingFirst("k3Yq-0091", with: "victim") }
        #expect(try world.outcome(changed, try expected()) == "sig.invalid")
        let other = try encrypted { _ in "<x xmlns=\"urn:x\"/>" }
        #expect(try world.outcome(other, try expected()) == "xsw.position")
        let nested = try encrypted { $0.replacingFirst("</saml:Conditions>", with: "</saml:Conditions><saml:Advice>\($0)</saml:Advice>") }
        #expect(["xml.dupid", "xsw.position"].contains(try world.outcome(nested, try expected())))
    }

    @Test("an encrypted assertion beside a plain one is refused")
    func refusesTwoAssertions() throws {
        let encrypted = try Markup(encrypted()).element("saml:EncryptedAssertion")
        let xml = try world.response().replacingFirst("</samlp:Response>", with: encrypted + "</samlp:Response>")
        #expect(try world.outcome(xml, try expected()) == "xsw.position")
    }

    private static let xenc11 = "http://www.w3.org/2009/xmlenc11#"

    /// How a session key is wrapped: the key transport, and what OpenSSL calls its digest and its mask's.
    private struct Transport {
        let method: String
        let digest: String
        let mask: String
    }

    /// The response's session key wrapped anew, by OpenSSL.
    private func rewrapped(_ transports: [(Transport, recipient: String?, SignerIdentity)]) throws -> String {
        try encrypted(ciphertext: { content in
            try Signer.rewrapping(content, openedBy: world.serviceProvider) { open in
                try transports.map { transport, recipient, identity in
                    let value = try open(transport.digest, transport.mask, identity)
                    let attribute = recipient.map { " Recipient=\"\($0)\"" } ?? ""
                    return
                        "<xenc:EncryptedKey\(attribute)>\(transport.method)<xenc:CipherData><xenc:CipherValue>\(value)</xenc:CipherValue></xenc:CipherData>"
                        + "</xenc:EncryptedKey>"
                }.joined()
            }
        })
    }

    private static func method(_ algorithm: String, _ content: String = "") -> String {
        "<xenc:EncryptionMethod Algorithm=\"\(algorithm)\">\(content)</xenc:EncryptionMethod>"
    }

    private static func digest(_ uri: String) -> String {
        "<ds:DigestMethod xmlns:ds=\"http://www.w3.org/2000/09/xmldsig#\" Algorithm=\"\(uri)\"/>"
    }

    private static func mask(_ name: String) -> String { "<x:MGF xmlns:x=\"\(xenc11)\" Algorithm=\"\(xenc11)mgf1\(name)\"/>" }

    private static let plain = Transport(method: method("http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p"), digest: "sha1", mask: "sha1")

    @Test("XML Encryption 1.1 §5.5.2: the digests and mask functions of RSA-OAEP, and each that our metadata announces")
    func acceptsDigests() throws {
        let (sha1, sha256, sha512) = (
            "http://www.w3.org/2000/09/xmldsig#sha1", "http://www.w3.org/2001/04/xmlenc#sha256", "http://www.w3.org/2001/04/xmlenc#sha512"
        )
        let mgf1p = "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p"
        let oaep = Self.xenc11 + "rsa-oaep"
        let transports = [
            Self.plain, Transport(method: Self.method(mgf1p, Self.digest(sha1)), digest: "sha1", mask: "sha1"),
            Transport(method: Self.method(mgf1p, Self.digest(sha256)), digest: "sha256", mask: "sha1"),
            Transport(method: Self.method(oaep), digest: "sha1", mask: "sha1"),
            Transport(method: Self.method(oaep, Self.digest(sha256) + Self.mask("sha256")), digest: "sha256", mask: "sha256"),
            Transport(method: Self.method(oaep, Self.digest(sha1) + Self.mask("sha1")), digest: "sha1", mask: "sha1"),
            Transport(method: Self.method(oaep, Self.digest(sha512) + Self.mask("sha384")), digest: "sha512", mask: "sha384"),
            Transport(method: Self.method(oaep, Self.mask("sha256")), digest: "sha1", mask: "sha256"),
        ]
        for transport in transports {
            #expect(try world.outcome(try rewrapped([(transport, nil, world.serviceProvider)]), try expected()) == "OK", "\(transport)")
        }
        let other = Transport(method: Self.method(mgf1p, Self.digest(sha256)), digest: "sha1", mask: "sha1")
        #expect(try world.outcome(try rewrapped([(other, nil, world.serviceProvider)]), try expected()) == "enc.failed")
    }

    @Test("SAML core §2.3.4: of several EncryptedKey those with our Recipient or none are tried, at most four")
    func readsSeveralKeys() throws {
        let (ours, theirs) = (world.serviceProvider, world.stranger)
        let (name, foreign) = (ResponseTemplate.serviceProvider, "https://other.example")
        func outcome(_ keys: [(String?, SignerIdentity)]) throws -> String {
            try world.outcome(try rewrapped(keys.map { (Self.plain, recipient: $0.0, $0.1) }), try expected())
        }
        #expect(try outcome([(foreign, theirs), (name, ours)]) == "OK")
        #expect(try outcome([(nil, theirs), (nil, ours)]) == "OK")
        #expect(try outcome([(name + "/on-behalf-of/NEWSBRAND", ours), (foreign, theirs)]) == "OK")
        #expect(try outcome([(foreign, ours)]) == "enc.alg", "a key for another is not tried")
        #expect(try outcome([(nil, theirs), (nil, theirs), (nil, theirs), (name, ours)]) == "OK")
        #expect(try outcome([(nil, theirs), (nil, theirs), (nil, theirs), (nil, theirs), (nil, ours)]) == "enc.failed", "the fifth is not")
        #expect(try outcome([(nil, theirs), (nil, theirs)]) == "enc.failed")
        let odd = Transport(method: Self.method("http://www.w3.org/2001/04/xmlenc#rsa-1_5"), digest: "sha1", mask: "sha1")
        #expect(try world.outcome(try rewrapped([(odd, nil, theirs), (Self.plain, nil, ours)]), try expected()) == "OK")
        let sibling = try rewrapped([(Self.plain, nil, ours)])
        let key = String(try #require(sibling.firstMatch(of: /(?s)<xenc:EncryptedKey>.*<\/xenc:EncryptedKey>/)).0)
        let moved = sibling.replacing(key, with: "").replacing(
            "</xenc:EncryptedData>", with: "</xenc:EncryptedData>" + key)
        #expect(moved.contains("</xenc:EncryptedData><xenc:EncryptedKey>"))
        let namespaced = moved.replacing(
            "</xenc:EncryptedData><xenc:EncryptedKey>",
            with: "</xenc:EncryptedData><xenc:EncryptedKey xmlns:xenc=\"http://www.w3.org/2001/04/xmlenc#\">")
        #expect(try world.outcome(namespaced, try expected()) == "OK")
    }

    @Test("mvpd #79: with several keys, one that cannot be opened and a changed tag are one text and one trace")
    func severalFailuresLookAlike() throws {
        let two = [(Self.plain, recipient: String?.none, world.stranger), (Self.plain, recipient: nil, world.serviceProvider)]
        let tag = try Self.turn(0x80, fromEnd: 1, ofValue: 3, counting: 4, rewrapped(two))
        let key = try rewrapped([(Self.plain, nil, world.stranger), (Self.plain, nil, world.stranger)])
        let reports = try [tag, key].map { try world.report($0, try expected()) }
        for report in reports {
            guard case .rejected(let rejection) = report.verdict else {
                Issue.record("accepted")
                continue
            }
            #expect(rejection.reason == .encryptionFailed && rejection.explanation == "The assertion cannot be decrypted.")
        }
        #expect(Set(reports.map(\.trace)).count == 1)
    }

    @Test("the explanation names the part that is not allowed, and no part that is")
    func namesOddPart() throws {
        let mgf1p = "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p"
        let good = try encrypted()
        let cases: [(String, String)] = [
            (
                good.replacing("<xenc:EncryptionMethod Algorithm=\"\(mgf1p)\"/>", with: Self.method("http://www.w3.org/2001/04/xmlenc#rsa-1_5")),
                "key transport"
            ),
            (
                good.replacing(
                    "<xenc:EncryptionMethod Algorithm=\"\(mgf1p)\"/>",
                    with: Self.method(mgf1p, Self.digest("http://www.w3.org/2001/04/xmldsig-more#md5"))),
                "digest"
            ),
            (good.replacing("<xenc:EncryptionMethod Algorithm=\"\(mgf1p)\"/>", with: Self.method(mgf1p, Self.mask("sha256"))), "mask function"),
            (
                good.replacing(
                    "<xenc:EncryptionMethod Algorithm=\"\(mgf1p)\"/>", with: Self.method(mgf1p, "<xenc:OAEPparams>AAAA</xenc:OAEPparams>")),
                "OAEPparams"
            ),
            (good.replacing("aes128-gcm", with: "aes128-ccm"), "content cipher"), (try encrypted(Self.cbc), "AES-CBC as content cipher"),
            (good.replacing("<xenc:EncryptedKey>", with: "<xenc:EncryptedKey Recipient=\"https://other.example\">"), "another Recipient"),
            (good.replacing(/(?s)<xenc:EncryptedKey>.*<\/xenc:EncryptedKey>/, with: ""), "no EncryptedKey"),
        ]
        for (xml, words) in cases {
            let finding = ResponseVerifier().explain(
                try UnverifiedResponse(encoded: base64(xml)), expecting: try expected(), at: World.now)
            guard case .rejected(let rejection) = finding.verdict else {
                Issue.record("accepted: \(words)")
                continue
            }
            #expect(rejection.reason == .encryptionAlgorithm && rejection.explanation.contains(words), "\(rejection)")
            let hint = try #require(finding.explanation.steps.first { $0.outcome == .failed }).hint
            #expect(hint.hasPrefix("Used are ") && !hint.contains("Allowed is"), "\(hint)")
        }
    }
}
