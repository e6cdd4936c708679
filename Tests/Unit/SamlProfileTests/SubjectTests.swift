import Clocks
import Foundation
import SamlProfile
import SamlSigner
import Testing

/// The user id and the attributes (mvpd §2.5).
struct SubjectTests {
    private let world: World

    init() throws { world = try World.shared.get() }

    @Test("mvpd #13: the user id is taken from the named attribute, and missing without it")
    func takesUserIDFromAttribute() throws {
        let expected = try world.expected { $0.guidAttributeName = "guid" }
        let xml = try world.assertion { $0.attributes = AssertionTemplate.attribute("guid", ["g-17"]) }
        let assertion = try world.accepted(xml, expected)
        #expect(assertion.userID.rawValue == "g-17")
        #expect(assertion.nameID?.value.rawValue == "k3Yq-0091")
        #expect(try world.outcome(try world.response(), expected) == "subject.missing")
        let ambiguous = try world.assertion { $0.attributes = AssertionTemplate.attribute("guid", ["g-17", "g-18"]) }
        #expect(try world.outcome(ambiguous, expected) == "subject.missing")
        let empty = try world.assertion { $0.attributes = AssertionTemplate.attribute("guid", [" "]) }
        #expect(try world.outcome(empty, expected) == "subject.missing")
    }

    @Test("an empty NameID is no user id")
    func refusesEmptyNameID() throws {
        #expect(try world.outcome(try world.assertion { $0.nameID = "  " }) == "subject.missing")
    }

    @Test("a NameID format that was not asked for is refused, a listed one accepted")
    func checksNameIDFormat() throws {
        let transient = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
        let xml = try world.assertion { $0.nameIDAttributes = "Format=\"\(transient)\"" }
        #expect(try world.outcome(xml) == "subject.format")
        #expect(try world.outcome(xml, try world.expected { $0.nameIDFormats.append(transient) }) == "OK")
        let unspecified = "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified"
        #expect(try world.outcome(xml, try world.expected { $0.nameIDFormats = [unspecified] }) == "OK")
        #expect(try world.outcome(try world.assertion { $0.nameIDAttributes = "" }) == "subject.format")
    }

    @Test("mvpd #63: an attribute whose name stands in a namespace does not count")
    func ignoresNamespacedNames() throws {
        let expected = try world.expected { $0.guidAttributeName = "guid" }
        let decoy = "<saml:Attribute xmlns:x=\"urn:x\" x:Name=\"guid\"><saml:AttributeValue>evil</saml:AttributeValue></saml:Attribute>"
        let xml = try world.assertion { $0.attributes = decoy + AssertionTemplate.attribute("guid", ["g-17"]) }
        #expect(try world.accepted(xml, expected).userID.rawValue == "g-17")
        #expect(try world.outcome(try world.assertion { $0.attributes = decoy }, expected) == "subject.missing")
        let both = decoy.replacingFirst("x:Name=\"guid\"", with: "x:Name=\"guid\" Name=\"other\"")
        #expect(try world.outcome(try world.assertion { $0.attributes = both }, expected) == "subject.missing")
    }

    @Test("attributes are mapped by type; unknown ones and those that do not fit are left out")
    func mapsAttributes() throws {
        let xml = try world.assertion {
            $0.attributes =
                AssertionTemplate.attribute("zip", ["98101", " 98102 "]) + AssertionTemplate.attribute("hoh", ["TRUE"])
                + AssertionTemplate.attribute("hba", ["maybe"]) + AssertionTemplate.attribute("MaxTVRating", ["TV-PG"])
                + AssertionTemplate.attribute("MaxMovieRating", ["PG-13"]) + AssertionTemplate.attribute("mail", ["a@b.example"])
                + AssertionTemplate.attribute("twice", ["1", "2"])
        }
        let expected = try world.expected {
            $0.attributeMap = [
                AttributeMapping(source: "zip", target: "zip", type: .list),
                AttributeMapping(source: "hoh", target: "is_hoh", type: .boolean),
                AttributeMapping(source: "hba", target: "hba_status", type: .boolean),
                AttributeMapping(source: "MaxTVRating", target: "maxRating.VCHIP"),
                AttributeMapping(source: "MaxMovieRating", target: "maxRating.MPAA"),
                AttributeMapping(source: "twice", target: "language"),
                AttributeMapping(source: "absent", target: "channelID", type: .list),
                AttributeMapping(source: "", target: "userID"),
            ]
        }
        #expect(
            try world.accepted(xml, expected).attributes == [
                MappedAttribute(key: "zip", value: .list(["98101", "98102"])),
                MappedAttribute(key: "is_hoh", value: .boolean(true)),
                MappedAttribute(key: "maxRating", value: .object(["VCHIP": "TV-PG", "MPAA": "PG-13"])),
                MappedAttribute(key: "userID", value: .string("k3Yq-0091")),
            ])
    }

    @Test("a name format in the map selects among attributes of the same name")
    func selectsByNameFormat() throws {
        let uri = "urn:oasis:names:tc:SAML:2.0:attrname-format:uri"
        let xml = try world.assertion {
            $0.attributes =
                AssertionTemplate.attribute("householdID", ["plain"])
                + "<saml:Attribute Name=\"householdID\" NameFormat=\"\(uri)\"><saml:AttributeValue>u</saml:AttributeValue></saml:Attribute>"
        }
        let expected = try world.expected {
            $0.attributeMap = [AttributeMapping(source: "householdID", sourceNameFormat: uri, target: "householdID")]
        }
        #expect(try world.accepted(xml, expected).attributes == [MappedAttribute(key: "householdID", value: .string("u"))])
    }

    @Test("an attribute value that is not text is left out and never fails the sign-in")
    func leavesOutStructuredValues() throws {
        let xml = try world.assertion {
            $0.attributes =
                "<saml:Attribute Name=\"householdID\"><saml:AttributeValue><x xmlns=\"urn:x\">h</x></saml:AttributeValue></saml:Attribute>"
        }
        #expect(try world.accepted(xml).attributes.isEmpty)
    }

    @Test("what identifies a person is hidden when printed")
    func hidesValues() throws {
        let assertion = try world.accepted(try world.response())
        #expect(!"\(assertion)".contains("k3Yq") && !"\(assertion)".contains("house-7"))
    }

    @Test(
        "SAML core §1.3.3: a moment of a response with an offset, without a zone or in another form is refused by its name",
        arguments: ["2031-03-04T12:00:00+02:00", "2031-03-04T10:00:00", "04 Mar 2031 10:00"])
    func refusesOddInstants(text: String) throws {
        let cases: [(String, String)] = [
            (try world.response { $0.issueInstant = text }, "IssueInstant"), (try world.assertion { $0.issueInstant = text }, "IssueInstant"),
            (try world.assertion { $0.notBefore = text }, "NotBefore"), (try world.assertion { $0.notOnOrAfter = text }, "NotOnOrAfter"),
            (try world.assertion { $0.confirmations[0].notOnOrAfter = text }, "NotOnOrAfter"),
            (
                try world.assertion {
                    $0.confirmations.insert(.init(), at: 0); $0.confirmations[1].notOnOrAfter = text
                }, "NotOnOrAfter"
            ),
            (try world.assertion { $0.authnInstant = text }, "AuthnInstant"),
            (try world.assertion { $0.sessionNotOnOrAfter = text }, "SessionNotOnOrAfter"),
        ]
        for (xml, name) in cases {
            let finding = ResponseVerifier().explain(
                try UnverifiedResponse(encoded: base64(xml)), expecting: try world.expected(), at: World.now)
            guard case .rejected(let rejection) = finding.verdict else {
                Issue.record("accepted: \(name)")
                continue
            }
            #expect(rejection.explanation.hasPrefix(name + " "), "\(rejection)")
            let hint = try #require(finding.explanation.steps.first { $0.outcome == .failed }).hint
            #expect(hint.contains(name) && !hint.contains("clocks"), "\(hint)")
        }
    }

    @Test("SAML core §1.3.3: Z and offsets of zero are UTC", arguments: ["Z", "+00:00", "-00:00"])
    func readsZeroOffsets(zone: String) throws {
        let xml = try world.response {
            $0.issueInstant = "2031-03-04T10:00:00\(zone)"
            var assertion = AssertionTemplate()
            assertion.issueInstant = "2031-03-04T10:00:00\(zone)"
            assertion.notBefore = "2031-03-04T09:59:30.5\(zone)"
            assertion.notOnOrAfter = "2031-03-04T10:05:00\(zone)"
            assertion.confirmations[0].notOnOrAfter = "2031-03-04T10:05:00\(zone)"
            assertion.authnInstant = "2031-03-04T09:59:55.1234567\(zone)"
            assertion.sessionNotOnOrAfter = "2031-03-05T10:00:00\(zone)"
            $0.assertion = assertion
        }
        #expect(try world.accepted(xml).sessionNotOnOrAfter == Timestamp(seconds: 1_930_471_200))
    }

    private static let nameIDElement = #"<saml:NameID\b[^>]*>[^<]*</saml:NameID>"#

    /// A signed response whose subject has no NameID.
    private func withoutNameID(_ attributes: String, _ subject: String = "") throws -> String {
        var assertion = AssertionTemplate()
        assertion.attributes = attributes
        let bare = assertion.xml.replacingOccurrences(of: Self.nameIDElement, with: subject, options: .regularExpression)
        let signed = try Signer.sign(bare, signatureOf: "Assertion", with: world.identityProvider)
        return try world.response { $0.content = signed }
    }

    private func explained(_ xml: String, _ expected: ExpectedResponse) throws -> (reason: String, explanation: String, hint: String) {
        let finding = ResponseVerifier().explain(try UnverifiedResponse(encoded: base64(xml)), expecting: expected, at: World.now)
        guard case .rejected(let rejection) = finding.verdict else { return ("OK", "", "") }
        let failed = finding.explanation.steps.first { $0.outcome == .failed }
        return (rejection.reason.rawValue, rejection.explanation, failed?.hint ?? "")
    }

    @Test("SAML core §2.4.1: without a NameID the named attribute identifies, and nothing else does")
    func identifiesWithoutNameID() throws {
        let expected = try world.expected {
            $0.guidAttributeName = "uid"
            $0.attributeMap = [AttributeMapping(source: "uid", target: "userID"), AttributeMapping(source: "", target: "typeID")]
        }
        let xml = try withoutNameID(AssertionTemplate.attribute("uid", ["u-17"]))
        let assertion = try world.accepted(xml, expected)
        #expect(assertion.userID.rawValue == "u-17" && assertion.nameID == nil && assertion.sessionIndex == "_session-9")
        #expect(assertion.attributes == [MappedAttribute(key: "userID", value: .string("u-17"))])
        let refused = try explained(xml, try world.expected())
        #expect(refused.reason == "subject.format" && refused.explanation.contains("no NameID") && refused.hint.contains("saml.guidAttributeName"))
        let several = try withoutNameID(
            AssertionTemplate.attribute("uid", ["u-17"]), "<saml:NameID>a</saml:NameID><saml:NameID>b</saml:NameID>")
        #expect(try world.outcome(several, expected) == "subject.format")
        #expect(try world.outcome(try withoutNameID(AssertionTemplate.attribute("other", ["x"])), expected) == "subject.missing")
    }

    @Test("eduPersonTargetedID: the attribute twice with one value, or as a NameID element, identifies; two values do not, and that is said")
    func readsRepeatedAttribute() throws {
        let expected = try world.expected {
            $0.guidAttributeName = "uid"
            $0.attributeMap = [AttributeMapping(source: "uid", target: "userID")]
        }
        func name(_ value: String, _ attributes: String = "") -> String { "<saml:NameID \(attributes)>\(value)</saml:NameID>" }
        let one = AssertionTemplate.attribute("uid", ["u-17"])
        for attributes in [
            one + one, AssertionTemplate.attribute("uid", ["u-17", " u-17 "]), AssertionTemplate.attribute("uid", [name("u-17")]),
            AssertionTemplate.attribute("uid", [name("u-17", "NameQualifier=\"a\"")]) + one,
            AssertionTemplate.attribute("uid", [" " + name(" u-17") + "\n"]), AssertionTemplate.attribute("uid", ["<![CDATA[u-17]]>"]),
        ] {
            let assertion = try world.accepted(try world.assertion { $0.attributes = attributes }, expected)
            #expect(assertion.userID.rawValue == "u-17" && assertion.attributes == [MappedAttribute(key: "userID", value: .string("u-17"))])
        }
        let cases: [(String, explanation: String, hint: String)] = [
            (one + AssertionTemplate.attribute("uid", ["u-18"]), "different values", "must have one value"),
            (AssertionTemplate.attribute("uid", ["u-17", "u-18"]), "different values", "must have one value"),
            (AssertionTemplate.attribute("uid", ["u-17", ""]), "different values", "must have one value"),
            (AssertionTemplate.attribute("uid", ["e\u{301}", "\u{E9}"]), "different values", "must have one value"),
            (
                AssertionTemplate.attribute("uid", [name("u-17", "NameQualifier=\"a\""), name("u-17", "NameQualifier=\"b\"")]), "different values",
                "must have one value"
            ),
            (AssertionTemplate.attribute("uid", ["<x xmlns=\"urn:x\">u-17</x>"]), "an element", "must hold text, or a NameID"),
            (AssertionTemplate.attribute("uid", [name("u-17") + name("u-17")]), "an element", "must hold text, or a NameID"),
            (AssertionTemplate.attribute("uid", [""]), "without a value", "without a value"),
            (AssertionTemplate.attribute("uid", []), "without a value", "without a value"),
            (AssertionTemplate.attribute("UID", ["u-17"]), "does not hold the attribute", "sent are UID"),
        ]
        for (attributes, explanation, hint) in cases {
            let refused = try explained(try world.assertion { $0.attributes = attributes }, expected)
            #expect(refused.reason == "subject.missing" && refused.explanation.contains(explanation) && refused.hint.contains(hint), "\(refused)")
            #expect(!refused.explanation.contains("u-17") && !refused.hint.contains("u-17"))
        }
    }
}

extension String {
    func replacingFirst(_ old: String, with new: String) -> String {
        guard let range = range(of: old) else { return self }
        return replacingCharacters(in: range, with: new)
    }
}
