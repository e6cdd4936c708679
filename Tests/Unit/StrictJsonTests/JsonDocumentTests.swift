import StrictJson
import Testing

@Suite("JSON text")
struct JsonDocumentTests {
    @Test(
        "syntax errors name line and column",
        arguments: [
            ("", 1, 1), ("{\n  \"a\": 1,\n}", 3, 1), ("[1 2]", 1, 4), ("{\"a\" 1}", 1, 6), ("\"é\u{0}\"", 1, 3), ("[01]", 1, 3), ("nul", 1, 1),
            ("{} x", 1, 4), ("\"\\x\"", 1, 2), ("\"\\ud800\"", 1, 4), ("[1.]", 1, 4), ("\"open", 1, 6), ("\u{feff}{}", 1, 1),
        ])
    func syntaxErrors(text: String, line: Int, column: Int) {
        let error = #expect(throws: JsonSyntaxError.self) { try JsonDocument(parsing: Array(text.utf8)) }
        #expect(error?.position.line == line)
        #expect(error?.position.column == column)
    }

    @Test("text that is not UTF-8 is refused")
    func refusesForeignEncoding() {
        #expect(throws: JsonSyntaxError.self) { try JsonDocument(parsing: [0x22, 0xff, 0x22]) }
    }

    @Test("nesting is bounded, so that the stack is safe")
    func boundsNesting() throws {
        #expect(throws: JsonSyntaxError.self) { try JsonDocument(parsing: Array(repeating: UInt8(ascii: "["), count: 100_000)) }
        _ = try JsonDocument(parsing: Array((String(repeating: "[", count: 64) + String(repeating: "]", count: 64)).utf8))
    }

    @Test(
        "where flawed texts are let pass, each costs the member whose name or value it is, and nothing else",
        arguments: [
            ("{\"a\":\"x\u{1}\",\"b\":\"y\"}", #"{"b":"y"}"#), (#"{"a":"\ud800","b":{"c":"\udc00","d":1}}"#, #"{"b":{"d":1}}"#),
            (#"{"\ud800":{"c":1},"b":1}"#, #"{"b":1}"#), (#"["\ud800\n","x"]"#, #"[null,"x"]"#), (#""\ud800\ud83d\ude00""#, "null"),
            (#"{"a":"\ud83d\ude00"}"#, #"{"a":"😀"}"#), (#"{"a":["\ud800"],"b":2}"#, #"{"a":[null],"b":2}"#),
        ])
    func flawedTexts(text: String, read: String) throws {
        #expect(try JsonDocument(parsing: Array(text.utf8), dropsFlawedTexts: true).root.text == read)
        if !text.contains("ude00") { #expect(throws: JsonSyntaxError.self) { try JsonDocument(parsing: Array(text.utf8)) } }
    }

    @Test(
        "and all else is refused as it is elsewhere",
        arguments: ["[1,]", "-01", "{\"a\":1,}", "\"\\x\"", "\"\\u12\"", "\"open", "nul", "{\"a\" 1}", "1.", "\u{1}1", "\u{feff}1"])
    func refusedAllTheSame(text: String) {
        #expect(throws: JsonSyntaxError.self) { try JsonDocument(parsing: Array(text.utf8), dropsFlawedTexts: true) }
    }

    @Test("escapes and surrogate pairs become characters")
    func unescapes() throws {
        let document = try JsonDocument(parsing: Array(#"["\"\\\/\b\f\n\r\té😀", "\u00e9\uD83D\uDE00"]"#.utf8))
        let strings = try StrictJsonDecoder().decode([String].self, from: document)
        #expect(strings == ["\"\\/\u{8}\u{c}\n\r\té😀", "é😀"])
    }
}
