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

    /// Turns the last bit of the encrypted key. The result is still a number below the modulus; a key that is encrypted for another recipient may be
    /// above it, which can be seen without the private key.
    private static func turningKey(_ encrypted: String) throws -> String { try turn(0x01, fromEnd: 1, ofValue: 1, encrypted) }

    private static func turn(_ bit: UInt8, fromEnd distance: Int, ofValue index: Int, _ encrypted: String) throws -> String {
        var values = encrypted.components(separatedBy: "<xenc:CipherValue>")
        try #require(values.count == 3, "the key's, and the content's")
        let text = String(try #require(values[index].split(separator: "<").first))
        var octets = try #require(Data(base64Encoded: text, options: .ignoreUnknownCharacters))
        octets[octets.count - distance] ^= bit
        values[index] = values[index].replacingOccurrences(of: text, with: octets.base64EncodedString())
        return values.joined(separator: "<xenc:CipherValue>")
    }

    /// Faults that a sender must not be able to tell apart: bad key and bad tag; in AES-CBC bad key, bad padding, and good padding around garbage.
    private func failures(_ pair: String) throws -> [String] {
        switch pair {
        case "key and tag": try [encrypted(ciphertext: Self.turningKey), encrypted(ciphertext: Self.turningBit(fromEnd: 1))]
        case "key and padding":
            try [
                encrypted(Self.cbc, signsResponse: true, ciphertext: Self.turningKey),
                // An octet of the block before the last one turns the same octet of the last block: here the length of the padding.
                encrypted(Self.cbc, signsResponse: true, ciphertext: Self.turningBit(fromEnd: 17)),
            ]
        default:
            try [
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
        "mvpd #79: bad key, bad tag, bad padding: one time", .tags(.timing), arguments: ["key and tag", "key and padding", "padding and garbage"])
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
            ("<xenc:EncryptedKey>", "<xenc:EncryptedKey/><xenc:EncryptedKey>"),
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
}
