import Testing
import TextEncodings

@Suite("Escapes of markup") struct MarkupEscapesTests {
    @Test(
        "each kind of markup has its form, which parsers and signatures depend on",
        arguments: [
            (MarkupEscapes.html, "&amp;&lt;&gt;&quot;\u{301}&#39;\u{301}\t\n\r\u{1}\u{7f}\u{fffe}\u{ffff}é\u{ff01}😀"),
            (.xml, "&amp;&lt;&gt;&quot;\u{301}'\u{301}\t\n\r\u{1}\u{7f}\u{fffe}\u{ffff}é\u{ff01}😀"),
            (.xmlText, "&amp;&lt;&gt;\"\u{301}'\u{301}\t\n&#13;\u{1}\u{7f}\u{fffe}\u{ffff}é\u{ff01}😀"),
            (.xmlDocument, "&amp;&lt;&gt;&quot;\u{301}&apos;\u{301}\t\n&#13;\u{fffd}\u{7f}\u{fffd}\u{fffd}é\u{ff01}😀"),
            (.xmlMessage, "&amp;&lt;&gt;&quot;\u{301}'\u{301}&#9;&#10;&#13;\u{fffd}\u{7f}\u{fffd}\u{fffd}é\u{ff01}😀"),
            (.report, "&amp;&lt;&gt;&quot;\u{301}&#39;\u{301}   \u{20}\u{7f}\u{20}\u{20}é\u{ff01}😀"),
        ] as [(MarkupEscapes, String)])
    func forms(_ escapes: MarkupEscapes, expected: String) {
        let text = "&<>\"\u{301}'\u{301}\t\n\r\u{1}\u{7f}\u{fffe}\u{ffff}é\u{ff01}😀"
        #expect(escapes.escaped(text).utf8.elementsEqual(expected.utf8))
        var bytes = Array("a".utf8)
        escapes.append(text, to: &bytes)
        #expect(bytes == Array("a".utf8) + Array(expected.utf8))
    }

    @Test("text without markup stays as it is", arguments: ["", "a b", "é😀", "\u{7f}"])
    func plain(text: String) {
        #expect(MarkupEscapes.xmlMessage.escaped(text).utf8.elementsEqual(text.utf8))
    }
}
