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
        #expect(try world.outcome(with(String(repeating: "<x/>", count: 5000))) == "xml.limit")
        #expect(try world.outcome(with(String(repeating: "<x/>", count: 4500))) == "OK")
        #expect(try world.outcome(with("<x " + (0..<5000).map { "a\($0)=\"\"" }.joined(separator: " ") + "/>")) == "xml.limit")
        #expect(try world.outcome(with("<x " + (0..<5000).map { "xmlns:a\($0)=\"urn:a\"" }.joined(separator: " ") + "/>")) == "xml.limit")
        #expect(try world.outcome(with(String(repeating: "<!---->", count: 5000))) == "xml.limit")
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
        "mvpd #15, #60, #61: CDATA, a comment, an instruction or an element inside the NameID",
        arguments: [
            "k3Yq<![CDATA[-0091]]>", "<![CDATA[k3Yq-0091]]>", "ann<!-- -->.evil", "<!-- -->ann", "k3Yq<?x y?>-0091", "k3Yq<x/>-0091",
        ])
    func refusesSplitText(nameID: String) throws {
        #expect(try world.outcome(try world.assertion { $0.nameID = nameID }) == "xml.form")
        #expect(try world.outcome(try world.response().replacingFirst("k3Yq-0091", with: nameID)) == "xml.form")
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

    @Test("mvpd #64: broken or URL-safe base64, white space, spaces for plus")
    func refusesBadBase64() throws {
        let good = base64(try world.response() + "<!-- \u{FFFF}>>>???~~~ -->")
        let bad = [
            "", "=", "====", "A", "AB", "ABC", "AB==CD==", "AB=C", "A===", "AR==", "AAB=", "QUJD\n", " QUJD", "QUJD=", "QUJD QUJD", "QU-_",
            "QUJ\u{E9}",
            String(good.dropLast()), good + "\r\n",
        ]
        for text in bad {
            do {
                _ = try UnverifiedResponse(encoded: text)
                Issue.record("accepted \(text.prefix(20))")
            } catch { #expect(error.reason == .base64) }
        }
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
