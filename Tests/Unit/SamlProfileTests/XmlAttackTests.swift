import Foundation
@testable import SamlProfile
import SamlSigner
import Testing

/// Attacks on the parser.
struct XmlAttackTests {
    private let world: World

    init() throws { world = try World.shared.get() }

    private func report(octets: [UInt8]) throws -> String {
        let report = ResponseVerifier().verify(
            try UnverifiedResponse(encoded: Data(octets).base64EncodedString()), expecting: try world.expected(), at: World.now)
        guard case .rejected(let rejection) = report.verdict else { return "OK" }
        return rejection.reason.rawValue
    }

    /// The shortest of a few runs: how long it takes on a machine that does other work as well.
    private func fastest(_ work: () throws -> Void) throws -> Duration {
        let clock = ContinuousClock()
        let durations = try (0..<5).map { _ in try clock.measure(work) }
        return durations.min() ?? .seconds(3600)
    }

    @Test("mvpd #53: an external entity with a file, which is not opened")
    func refusesFileEntity() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("saml-xxe-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: file) }
        let doctype = "<!DOCTYPE samlp:Response [<!ENTITY x SYSTEM \"\(file.absoluteString)\">]>"
        let xml = try doctype + world.response().replacingFirst("k3Yq-0091", with: "&x;")
        #expect(try world.outcome(xml) == "xml.dtd")
    }

    @Test("mvpd #54: an external entity on the network, which is not fetched")
    func refusesNetworkEntity() throws {
        let listener = try Listener()
        let doctype = "<!DOCTYPE samlp:Response [<!ENTITY x SYSTEM \"http://127.0.0.1:\(listener.port)/x\">]>"
        #expect(try world.outcome(try doctype + world.response().replacingFirst("k3Yq-0091", with: "&x;")) == "xml.dtd")
        #expect(try !listener.wasContacted())
    }

    @Test(
        "mvpd #55: parameter entities, an external subset, an empty declaration",
        arguments: [
            "<!DOCTYPE samlp:Response [<!ENTITY % p \"<!ENTITY x 'y'>\"> %p;]>", "<!DOCTYPE samlp:Response SYSTEM \"http://127.0.0.1:1/x.dtd\">",
            "<!DOCTYPE samlp:Response PUBLIC \"-//X\" \"file:///etc/hostname\">", "<!DOCTYPE samlp:Response>",
            "<!DOCTYPE samlp:Response [<!ATTLIST samlp:Response ID ID #IMPLIED>]>", "\n<!-- a --><!DOCTYPE x>",
        ])
    func refusesDoctype(doctype: String) throws {
        #expect(try world.outcome(doctype + (try world.response())) == "xml.dtd")
    }

    @Test("mvpd #56: billion laughs, in content and in an attribute", .tags(.timing), arguments: [true, false])
    func refusesEntityBomb(isInContent: Bool) throws {
        var entities = "<!ENTITY a0 \"ha\">"
        for level in 1...9 { entities += "<!ENTITY a\(level) \"\(String(repeating: "&a\(level - 1);", count: 10))\">" }
        let response = try world.response()
        let bomb = isInContent ? response.replacingFirst("k3Yq-0091", with: "&a9;") : response.replacingFirst("\"_session-9\"", with: "\"&a9;\"")
        let xml = "<!DOCTYPE x [\(entities)]>" + bomb
        #expect(try world.outcome(xml) == "xml.dtd")
        let took = try fastest { _ = try world.report(xml) }
        #expect(took < .milliseconds(50))
    }

    @Test(
        "mvpd #57: another encoding that hides a document type declaration",
        arguments: [
            String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32,
        ])
    func refusesOtherEncodings(encoding: String.Encoding) throws {
        let document = "<!DOCTYPE x [<!ENTITY y SYSTEM \"file:///etc/hostname\">]>" + (try world.response())
        let octets = Array(try #require(document.data(using: encoding)))
        #expect(["xml.form", "xml.dtd"].contains(try report(octets: octets)))
    }

    @Test("mvpd #57: a declared encoding other than UTF-8", arguments: ["UTF-16", "UTF-7", "ISO-8859-1", "EBCDIC-CP-US", "x"])
    func refusesDeclaredEncoding(encoding: String) throws {
        let declared = "<?xml version=\"1.0\" encoding=\"\(encoding)\"?>" + (try world.response())
        #expect(try world.outcome(declared) == "xml.form")
        let hidden = "<?xml version=\"1.0\" encoding=\"UTF-7\"?>+ADwAIQ-DOCTYPE x+AD4-" + (try world.response())
        #expect(["xml.form", "xml.dtd"].contains(try world.outcome(hidden)))
        #expect(try world.outcome("<?xml version=\"1.0\" encoding=\"utf-8\"?>" + (try world.response())) == "OK")
    }

    @Test("mvpd #58: a document that is too deep or has too many nodes")
    func refusesLargeStructures() throws {
        let response = try world.response()
        func with(_ content: String) -> String {
            response.replacingFirst("<samlp:Status>", with: "<samlp:Extensions>\(content)</samlp:Extensions><samlp:Status>")
        }
        #expect(try world.outcome(with(String(repeating: "<x>", count: 10_000) + String(repeating: "</x>", count: 10_000))) == "xml.limit")
        #expect(try world.outcome(with(String(repeating: "<x>", count: 63) + String(repeating: "</x>", count: 63))) == "xml.limit")
        #expect(try world.outcome(with(String(repeating: "<x>", count: 62) + String(repeating: "</x>", count: 62))) == "OK")
        #expect(try world.outcome(with(String(repeating: "<x/>", count: 20_000))) == "xml.limit")
        #expect(try world.outcome(with(String(repeating: "<x/>", count: 19_500))) == "OK")
        let scopes = (0..<3).map { level in "<x " + (0..<200).map { "xmlns:a\(level)b\($0)=\"urn:a\"" }.joined(separator: " ") + ">" }.joined()
        #expect(try world.outcome(with(scopes + "</x></x></x>")) == "xml.limit")
        #expect(try world.outcome(with("<x b=\"\">" + String(repeating: "=", count: 4000) + "</x>")) == "OK")
        #expect(try world.outcome(with(String(repeating: "<x a=\"\"/>", count: 6000))) == "OK")
        #expect(try world.outcome(with("<x " + (0..<5000).map { "a\($0)=\"\"" }.joined(separator: " ") + "/>")) == "xml.limit")
        #expect(try world.outcome(with("<x " + (0..<5000).map { "xmlns:a\($0)=\"urn:a\"" }.joined(separator: " ") + "/>")) == "xml.limit")
        #expect(try world.outcome(with(String(repeating: "<!---->", count: 20_000))) == "xml.limit")
    }

    @Test("what would cost much time before the signature is known to be wrong is refused at once", .tags(.timing))
    func refusesCostlyStructures() throws {
        let response = try world.response()
        let list = String(repeating: "a ", count: 60_000)
        let parameter = "<ec:InclusiveNamespaces xmlns:ec=\"http://www.w3.org/2001/10/xml-exc-c14n#\" PrefixList=\"\(list)\"/></ds:Transform>"
        let transform = "<ds:Transform Algorithm=\"\(SignatureTemplate.exclusiveCanonicalization)\""
        let prefixes =
            response
            .replacingFirst("<saml:Subject>", with: String(repeating: "<x/>", count: 4000) + "<saml:Subject>")
            .replacingFirst(transform + "/>", with: transform + ">" + parameter)
        let names = (0..<20_000).map { "a" + String($0, radix: 36) }
        let attributes = response.replacingFirst("<samlp:Status>", with: "<samlp:Status \(names.map { "\($0)=''" }.joined(separator: " "))>")
        let someAttributes = names.prefix(257).map { "\($0)=''" }.joined(separator: " ")
        for (xml, reason) in [
            (prefixes, "sig.transform"), (attributes, "xml.limit"),
            (response.replacingFirst("<samlp:Status>", with: "<samlp:Status \(someAttributes)>"), "xml.limit"),
        ] {
            #expect(try world.outcome(xml) == reason)
            let took = try fastest { _ = try world.report(xml) }
            #expect(took < .milliseconds(200))
        }
    }

    @Test("mvpd #59: a message over 256 KiB")
    func refusesLargeMessage() throws {
        #expect(throws: SamlRejection.self) { try UnverifiedResponse(encoded: String(repeating: "A", count: 10 * 1024 * 1024)) }
        do {
            _ = try UnverifiedResponse(encoded: String(repeating: "A", count: 256 * 1024 + 4))
            Issue.record("accepted")
        } catch { #expect(error.reason == .size) }
        _ = try UnverifiedResponse(encoded: String(repeating: "A", count: 256 * 1024))
    }

    @Test(
        "mvpd #60, #61: a comment, an instruction or an element inside the NameID",
        arguments: [
            "ann<!-- -->.evil", "<!-- -->ann", "k3Yq<?x y?>-0091", "k3Yq<x/>-0091", "<![CDATA[ann]]><!-- -->.evil", "<![CDATA[ann]]><x/>",
        ])
    func refusesSplitText(nameID: String) throws {
        #expect(try world.outcome(try world.assertion { $0.nameID = nameID }) == "xml.form")
        #expect(try world.outcome(try world.response().replacingFirst("k3Yq-0091", with: nameID)) == "xml.form")
    }

    @Test(
        "mvpd #15, Canonical XML 1.0 §2.3: a CDATA section means its text, signed so or changed to it on the way",
        arguments: ["k3Yq<![CDATA[-0091]]>", "<![CDATA[k3Yq-0091]]>", "<![CDATA[k3Yq]]><![CDATA[]]>-<![CDATA[0091]]>", "\n <![CDATA[k3Yq-0091]]> "])
    func readsCdata(nameID: String) throws {
        #expect(try world.accepted(try world.assertion { $0.nameID = nameID }).userID.rawValue == "k3Yq-0091")
        let changed = try world.outcome(try world.response().replacingFirst("k3Yq-0091", with: nameID))
        #expect(changed == (nameID.contains("\n") ? "sig.invalid" : "OK"))
        let markup = try world.assertion { $0.nameID = "<![CDATA[<b>&amp;</b>]]>" }
        #expect(try world.accepted(markup).userID.rawValue == "<b>&amp;</b>")
        #expect(try world.outcome(try world.response().replacingFirst("<samlp:Status>", with: "<![CDATA[x]]><samlp:Status>")) == "xml.form")
    }

    @Test("mvpd §2.3 step 5: 2,400 values of one attribute, as ADFS sends groups, sign in", arguments: [false, true])
    func readsManyValues(isTyped: Bool) throws {
        let type = isTyped ? " xsi:type=\"xs:string\"" : ""
        let values = (0..<2400).map { "\n<saml:AttributeValue\(type)>S-1-5-21-\($0)</saml:AttributeValue>" }.joined()
        let response = try world.assertion {
            if isTyped { $0.declarations = "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns:xs=\"http://www.w3.org/2001/XMLSchema\"" }
            $0.attributes += "<saml:Attribute Name=\"groups\">\(values)</saml:Attribute>"
        }
        let expected = try world.expected { $0.attributeMap.append(AttributeMapping(source: "groups", target: "channelID", type: .list)) }
        let accepted = try world.accepted(response, expected)
        #expect(accepted.attributes.map(\.key) == ["householdID", "channelID"])
        #expect(accepted.attributes.last?.value == .list((0..<2400).map { "S-1-5-21-\($0)" }))
    }

    @Test("elements where text belongs are refused")
    func refusesElementsForText() throws {
        #expect(try world.outcome(try world.assertion { $0.nameID = "<x xmlns=\"urn:x\">k3Yq-0091</x>" }) == "xml.form")
        #expect(try world.outcome(try world.assertion { $0.issuer = "<x xmlns=\"urn:x\">\(ResponseTemplate.identityProvider)</x>" }) == "xml.form")
    }

    @Test("mvpd #61: a processing instruction anywhere", arguments: ["<samlp:Status>", "<saml:Subject>", "<samlp:Response"])
    func refusesInstructions(place: String) throws {
        #expect(try world.outcome(try world.response().replacingFirst(place, with: "<?x y?>" + place)) == "xml.form")
    }

    @Test(
        "mvpd #62: documents that are not well-formed",
        arguments: [
            ("<samlp:Status>", "<q:x/><samlp:Status>"), ("<samlp:Status>", "<samlp:Status q:x=\"\">"),
            ("<samlp:Status>", "<samlp:Status a=\"\" a=\"\">"),
            ("<samlp:Status>", "<samlp:Status xmlns:p=\"urn:p\" xmlns:q=\"urn:p\" p:a=\"\" q:a=\"\">"),
            ("<samlp:Status>", "<samlp:Status>&undefined;"),
            ("</samlp:Response>", "</samlp:Response><x/>"), ("</samlp:Response>", "</samlp:Response>x"), ("</samlp:Response>", ""),
            ("</samlp:Response>", "</samlp:Response><?x?>"), ("<samlp:Response", "x<samlp:Response"), ("<samlp:Status>", "<samlp:Status>\u{1}"),
            ("<samlp:Status>", "<samlp:Status>&#0;"), ("<samlp:Status>", "<samlp:Status>&#xFFFE;"),
        ])
    func refusesMalformed(old: String, new: String) throws {
        #expect(try world.outcome(try world.response().replacingFirst(old, with: new)) == "xml.form")
    }

    @Test(
        "mvpd #62: octets that are not UTF-8, and NUL",
        arguments: [
            [0xFF], [0xC0, 0xAF], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0x80], [0xC3],
            [0x00],
        ] as [[UInt8]])
    func refusesBadOctets(bad: [UInt8]) throws {
        let parts = try world.response().components(separatedBy: "<samlp:Status>")
        #expect(try report(octets: Array(parts[0].utf8) + bad + Array("<samlp:Status>".utf8) + Array(parts[1].utf8)) == "xml.form")
        #expect(try report(octets: Array(try world.response().utf8) + bad) == "xml.form")
    }

    @Test("mvpd #64: broken or URL-safe base64, spaces for plus")
    func refusesBadBase64() throws {
        let good = base64(try world.response() + "<!-- \u{FFFF}>>>???~~~ -->")
        let bad = [
            "", " \r\n\t", "=", "====", "A", "AB", "ABC", "AB==CD==", "AB=C", "A===", "AR==", "AAB=", "QUJD=", "QUJD QU", "QU-_", "QUJD\u{B}",
            "QUJD\u{C}",
            "QUJ\u{E9}", "QUJD\u{A0}", "QUJD\u{85}", "QUJD%0D%0A",
            String(good.dropLast()), good.replacingFirst("+", with: " "), "<samlp:Response/>",
        ]
        for text in bad {
            do {
                _ = try UnverifiedResponse(encoded: text)
                Issue.record("accepted \(text.prefix(20))")
            } catch { #expect(error.reason == .base64) }
        }
        #expect(good.contains("+"))
    }

    @Test(
        "SAML bindings §3.5.4, RFC 2045 §6.8: base64 in lines, however they end, in SAMLResponse, SAMLRequest and LogoutResponse",
        arguments: ["\r\n", "\n", "\t", " \r\n", "\r"])
    func readsLines(ending: String) throws {
        let whole = base64(try world.response())
        for width in [64, 76, 1] {
            var lines = ""
            for (index, character) in whole.enumerated() { lines += (index > 0 && index.isMultiple(of: width) ? ending : "") + String(character) }
            let response = try UnverifiedResponse(encoded: ending + lines + ending)
            guard case .accepted = ResponseVerifier().verify(response, expecting: try world.expected(), at: World.now).verdict else {
                Issue.record("not accepted: \(width)")
                continue
            }
            for (request, answer) in [(lines, ""), ("", lines)] {
                #expect(
                    try UnverifiedLogout(request: request, response: answer, relayState: nil).claimedIssuer() == ResponseTemplate.identityProvider)
            }
        }
    }

    @Test("mvpd §2.3 step 2: the size limit counts what is sent, before line ends are skipped")
    func countsLines() throws {
        for (count, reason) in [(256 * 1024 - 4, nil), (256 * 1024 - 3, RejectionReason.size)] {
            do throws(SamlRejection) {
                _ = try UnverifiedResponse(encoded: String(repeating: "\n", count: count) + "QUJD")
                #expect(reason == nil)
            } catch { #expect(error.reason == reason) }
        }
    }

    @Test("what is no base64 is told apart, and nothing of it is repeated")
    func tellsBadBase64() throws {
        func explanation(_ encoded: String) -> String {
            do throws(SamlRejection) {
                _ = try UnverifiedResponse(encoded: encoded)
                return "accepted"
            } catch { return error.explanation }
        }
        #expect(explanation("QUJD QU").contains("%2B"))
        #expect(explanation("QUJ%2B").contains("percent-encoded twice"))
        #expect(explanation("<samlp:Response/>").contains("XML itself"))
        #expect(explanation("QU-_").contains("alphabet for URLs"))
        #expect(explanation("\r\n").contains("empty"))
    }

    @Test(
        "another root, another version",
        arguments: [
            ("Version=\"2.0\"", "Version=\"1.1\""),
            ("urn:oasis:names:tc:SAML:2.0:protocol\" xmlns:saml", "urn:oasis:names:tc:SAML:1.0:protocol\" xmlns:saml"),
            ("Version=\"2.0\" ", ""),
        ])
    func refusesOtherRoots(old: String, new: String) throws {
        #expect(try world.outcome(try world.response().replacingFirst(old, with: new)) == "xml.root")
    }

    @Test("a bare assertion is no response")
    func refusesBareAssertion() throws {
        #expect(try world.outcome(try Markup(world.response()).element("saml:Assertion")) == "xml.root")
    }
}
