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
        #expect(assertion.nameID.value.rawValue == "k3Yq-0091")
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
}

extension String {
    func replacingFirst(_ old: String, with new: String) -> String {
        guard let range = range(of: old) else { return self }
        return replacingCharacters(in: range, with: new)
    }
}
