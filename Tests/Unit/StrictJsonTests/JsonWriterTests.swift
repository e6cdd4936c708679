import StrictJson
import Testing

@Suite("JSON writer") struct JsonWriterTests {
    /// What JSON must escape, what terminals obey, and what other writers escape without need.
    private static let text = "\u{0}\u{8}\u{9}\u{a}\u{d}\u{1f}\"\\/<\u{7f}é\u{2028}😀"

    @Test(
        "each set of escapes has its form, which hashes, signatures and readers depend on",
        arguments: [
            ([], #""\u0000\u0008\u0009\u000a\u000d\u001f\"\\/<\#u{7f}é\#u{2028}😀""#),
            (.lineFeed, #""\u0000\u0008\u0009\n\u000d\u001f\"\\/<\#u{7f}é\#u{2028}😀""#),
            ([.lineFeed, .tabAndReturn], #""\u0000\u0008\t\n\r\u001f\"\\/<\#u{7f}é\#u{2028}😀""#),
            ([.lineFeed, .delete], #""\u0000\u0008\u0009\n\u000d\u001f\"\\/<\u007fé\#u{2028}😀""#),
            (.delete, #""\u0000\u0008\u0009\u000a\u000d\u001f\"\\/<\u007fé\#u{2028}😀""#),
        ] as [(JsonWriter.Escapes, String)])
    func escapes(_ escapes: JsonWriter.Escapes, expected: String) throws {
        var json = JsonWriter(escapes)
        json.string(Self.text)
        #expect(json.text.utf8.elementsEqual(expected.utf8))
        guard case .string(let read) = try JsonDocument(parsing: json.bytes).root.content else { throw NoString() }
        #expect(read.utf8.elementsEqual(Self.text.utf8))
    }

    private struct NoString: Error {}

    @Test("commas stand between values, and between members, at every depth")
    func commas() {
        let json = JsonWriter.object { json in
            json.member("a", "x")
            json.name("b\n")
            json.beginArray()
            json.number(-1)
            json.beginObject()
            json.endObject()
            json.beginArray()
            json.endArray()
            json.null()
            json.written("0.5")
            json.endArray()
            json.written(Array(#""c":1,"d":2"#.utf8))
            json.member("e", false)
            json.member("f", 7)
            json.name("g")
            json.hexadecimal([0x0123_4567_89ab_cdef, 1])
        }
        let expected = #"{"a":"x","b\u000a":[-1,{},[],null,0.5],"c":1,"d":2,"e":false,"f":7,"g":"0123456789abcdef0000000000000001"}"#
        #expect(json.text == expected)
    }

    @Test("a node is written as it was read, without white space")
    func nodes() throws {
        let document = try JsonDocument(parsing: Array(#"{ "b" : [1.50, "\u00e9\n", null, true], "a" : {}, "b" : [] }"#.utf8))
        #expect(document.root.text == #"{"b":[1.50,"é\u000a",null,true],"a":{},"b":[]}"#)
        #expect(JsonWriter.quoted("a\"b") == #""a\"b""#)
    }
}
