import Testing

@testable import LoadTool

@Suite struct RequestTemplateTests {
    private static func fill(_ text: String, columns: [String] = [], row: [String: String] = [:], seed: UInt64 = 1) throws -> String {
        var random = SplitMix(seed: seed)
        return try RequestTemplate(text, columns: columns, option: "--path").filled(sequence: 7, row: row, random: &random)
    }

    @Test func fillsItsPlaces() throws {
        #expect(try Self.fill("/a?n={{seq}}&d={{ device }}!", columns: ["device"], row: ["device": "tv-1"]) == "/a?n=7&d=tv-1!")
        #expect(try Self.fill("nothing to fill") == "nothing to fill")
    }

    @Test func uuidsAreOfVersion4AndOfTheSeed() throws {
        let one = try Self.fill("{{uuid}}")
        #expect(one.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil, "\(one)")
        #expect(try Self.fill("{{uuid}}") == one)
        #expect(try Self.fill("{{uuid}}", seed: 2) != one)
    }

    @Test func refusesPlacesThatNothingFills() {
        #expect(throws: OptionRejection.self) { try Self.fill("{{nothing}}") }
        #expect(throws: OptionRejection.self) { try Self.fill("{{seq") }
    }

    @Test func readsCSV() throws {
        let file = try DataFile("id,note\r\n1,\"a, \"\"b\"\"\nc\"\r\n2,\r\n", name: "x.csv")
        #expect(file.columns == ["id", "note"])
        #expect(file.rows == [["id": "1", "note": "a, \"b\"\nc"], ["id": "2", "note": ""]])
    }

    @Test func readsJSONLines() throws {
        let file = try DataFile("{\"id\": 1, \"note\": \"x\"}\n{\"id\": 2, \"note\": \"y\"}\n", name: "x.jsonl")
        #expect(file.rows == [["id": "1", "note": "x"], ["id": "2", "note": "y"]])
    }

    @Test(arguments: [("", "x.csv"), ("a,b\n", "x.csv"), ("a,b\n1\n", "x.csv"), ("[1]\n", "x.jsonl"), ("{\"a\":1}\n{\"b\":2}\n", "x.jsonl")])
    func refusesOtherFiles(_ text: String, _ name: String) {
        #expect(throws: OptionRejection.self) { try DataFile(text, name: name) }
    }
}
