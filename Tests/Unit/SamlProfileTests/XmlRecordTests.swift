@testable import SamlProfile
import Testing

/// Documents of strangers as plain values.
@Suite("XML records") struct XmlRecordTests {
    @Test("names, texts and children are read; prefixes, attributes and white space at the ends are not")
    func reads() throws {
        let root = try XmlRecord(
            document: Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a:list n=\"1\" xmlns:a=\"urn:x\"> <b> B &amp; Co </b><c/> </a:list>".utf8))
        #expect(root.name == "list" && root.text.isEmpty && root.children.map(\.name) == ["b", "c"])
        #expect(root.children.map(\.text) == ["B & Co", ""] && root.children[0].children.isEmpty)
        let marked = try XmlRecord(document: [0xEF, 0xBB, 0xBF] + Array("<a>x</a>".utf8))
        #expect(marked.text == "x")
    }

    @Test(
        "what is no plain document is refused, and nothing that it names is read",
        arguments: [
            "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/hostname\">]><a>&x;</a>", "<!DOCTYPE html><html><body>Not found</body></html>",
            "<a><b></a>", "", "no XML",
            String(repeating: "<a>", count: 100),
        ])
    func refuses(text: String) { #expect(throws: XmlRecord.Rejection.self) { try XmlRecord(document: Array(text.utf8)) } }

    @Test("what is not UTF-8, or longer than four mebibytes, is refused by that name")
    func refusesOctets() throws {
        #expect(throws: XmlRecord.Rejection(message: "is not UTF-8 text")) { try XmlRecord(document: [0x3C, 0xFF]) }
        let long = Array("<a>".utf8) + Array(repeating: UInt8(ascii: "x"), count: XmlRecord.largest) + Array("</a>".utf8)
        #expect(throws: XmlRecord.Rejection(message: "has more than 4194304 bytes")) { try XmlRecord(document: long) }
    }
}
