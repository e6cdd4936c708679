import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

@Suite struct XmlTests {
    private func refusal(_ xml: String) -> String? { refusal(Array(xml.utf8)) }

    private func refusal(_ octets: [UInt8]) -> String? {
        do {
            _ = try XmlElement(parsing: octets)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func readsElementsAttributesAndText() throws {
        let root = try XmlElement(parsing: Array(#"<a:r xmlns:a="urn:a" x="1" a:x="2"><a:c> t &amp; u </a:c><d/></a:r>"#.utf8))
        #expect(root.name == "r")
        #expect(root.namespace == "urn:a")
        #expect(root.attributes == ["x": "1"])
        #expect(root.only("c", in: "urn:a")?.text == "t & u")
        #expect(root.only("d", in: "")?.text == "")
    }

    @Test func refusesDocumentTypes() {
        #expect(refusal("<!DOCTYPE r><r/>") == "xml.dtd")
        #expect(refusal(#"<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>"#) == "xml.dtd")
        #expect(refusal(#"<!DOCTYPE r SYSTEM "http://127.0.0.1:1/x.dtd"><r/>"#) == "xml.dtd")
    }

    @Test(arguments: [
        "", "<r>", "<r/><s/>", "<r/>trailing", "<p:r/>", #"<r x="1" x="2"/>"#, "<r><?pi x?></r>", "<?pi x?><r/>",
        #"<?xml version="1.0" encoding="UTF-7"?><r/>"#, #"<?xml version="1.0" encoding="ISO-8859-1"?><r/>"#, "<r>&unknown;</r>",
    ])
    func refusesWhatIsNotPlainXml(xml: String) {
        #expect(refusal(xml) == "xml.form")
    }

    @Test func refusesOctetsThatAreNotUTF8() {
        #expect(refusal(Array("<r>".utf8) + [0xFF] + Array("</r>".utf8)) == "xml.form")
        #expect(refusal([0xFF, 0xFE] + "<r/>".utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }) == "xml.form")
    }

    @Test func refusesDepthSizeAndNumber() {
        let deep = String(repeating: "<r>", count: 65) + String(repeating: "</r>", count: 65)
        #expect(refusal(deep) == "xml.limit")
        #expect(refusal("<r>" + String(repeating: "<s/>", count: 5001) + "</r>") == "xml.limit")
        #expect(refusal("<r>" + String(repeating: " ", count: 256 * 1024) + "</r>") == "xml.limit")
    }

    @Test func hidesTextThatCommentsOrSectionsSplit() throws {
        let root = try XmlElement(parsing: Array("<r><a>ann<!-- -->.evil</a><b><![CDATA[ann]]></b></r>".utf8))
        #expect(root.children.map(\.text) == [nil, nil])
    }

    @Test func escapesWhatItWrites() throws {
        let value = "a<b>&\"'\n\t\u{1}é"
        let xml = XmlNode.element("r", ["v": value, "n": nil], [.text(value)]).serialized()
        #expect(!xml.contains("\n"))
        let root = try XmlElement(parsing: Array(xml.utf8))
        #expect(root.attributes == ["v": "a<b>&\"'\n\t\u{FFFD}é"])
        #expect(root.text == "a<b>&\"'\n\t\u{FFFD}é")
    }

    @Test func inflatesNoMoreThanAllowed() throws {
        let text = [UInt8](repeating: 0x61, count: RawDeflate.largestMessage)
        #expect(try RawDeflate.inflate(try RawDeflate.deflate(text)) == text)
        let bomb = try RawDeflate.deflate(text + [0x61])
        #expect(throws: XmlRejection.self) { try RawDeflate.inflate(bomb) }
        #expect(throws: XmlRejection.self) { try RawDeflate.inflate(Array("no deflate".utf8)) }
    }
}
