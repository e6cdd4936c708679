import ContractReflection
import ContractRuntime
import Contracts
import StrictJson
import Testing

/// Messages to JSON and back, by a service's own description.
struct JsonMappingTests {
    private let schema: ContractSchema

    init() throws { schema = try Kinds.schema() }

    private func encode(_ json: String) throws -> [UInt8] {
        try schema.encode(try JsonDocument(parsing: Array(json.utf8)).root, as: Kinds.message)
    }

    private func problem(_ json: String) throws -> String {
        do {
            _ = try encode(json)
        } catch let mismatch as JsonMessageRejection {
            return "\(mismatch.offset) \(mismatch)"
        }
        return "fits"
    }

    @Test("Every kind of field, as protobuf's own implementation has it", arguments: Kinds.messages.indices)
    func allKinds(_ index: Int) throws {
        let (encoded, json) = Kinds.messages[index]
        #expect(try schema.json(Kinds.bytes(encoded), of: Kinds.message) == json)
        #expect(try encode(json) == Kinds.bytes(encoded))
    }

    @Test(
        "What is accepted beside the usual form",
        arguments: [
            (#"{"an_int64": 5}"#, #"{"anInt64": "5"}"#), (#"{"anInt32": 1e3}"#, #"{"anInt32": 1000}"#), (#"{"anInt32": "5.0"}"#, #"{"anInt32": 5}"#),
            (#"{"colour": 1}"#, #"{"colour": "COLOUR_RED"}"#), (#"{"aString": null, "left": null, "right": {}}"#, #"{"right": {}}"#),
            (#"{"someBytes": "_-8"}"#, #"{"someBytes": "/+8="}"#), (#"{"aDouble": "1.5"}"#, #"{"aDouble": 1.5}"#), (#"{"numbers": []}"#, "{}"),
        ])
    func otherForms(given: String, usual: String) throws {
        #expect(try encode(given) == encode(usual))
    }

    @Test(
        "What does not fit is named with its place",
        arguments: [
            (#"{"x": 1}"#, "1 x: kinds.Kinds has no such field; it has aDouble, aFloat"),
            (#"{"inner": {"anInt32": 2147483648}}"#, "22 inner.anInt32: must be a whole number from -2147483648 to 2147483647; it is '2147483648'"),
            (#"{"numbers": [1, "x"]}"#, "16 numbers[1]: must be a whole number"),
            (#"{"numbers": 1}"#, "12 numbers: must be an array; it is a number"),
            (#"{"aString": 5}"#, "12 aString: must be a string; it is a number"), (#"{"aBool": "true"}"#, "10 aBool: must be true or false"),
            (#"{"colour": "GREEN"}"#, "'GREEN' is no value of kinds.Colour; there are COLOUR_NONE, COLOUR_RED, COLOUR_DARK"),
            (#"{"someBytes": "?"}"#, "14 someBytes: must be base64"), (#"{"left": "", "right": {}}"#, "13 right: must not be there beside left"),
            (#"{"aBool": true, "a_bool": true}"#, "16 a_bool: is there twice"), (#"{"inner": []}"#, "10 inner: must be an object"),
            (#"{"aString": "a\u0000"}"#, "must not hold a NUL"), (#"{"anInt32": 0.5}"#, "must be a whole number"), ("[]", "0 must be an object"),
            (#"{"children": {"x": {}}}"#, "children.x: must be a whole number"), (#"{"aDouble": true}"#, "must be a number; it is a boolean"),
        ])
    func mismatches(json: String, words: String) throws {
        let found = try problem(json)
        #expect(found.contains(words), "\(found)")
    }

    @Test(
        "Bytes that are no message, and unknown fields", arguments: ["CQ==", "SgX/", "YgMA", "AA==", "Dw==", "CAE=", "SgL/wA==", "gP////////////8B"])
    func malformed(_ encoded: String) throws {
        #expect(throws: MessageRejection.self) { try schema.json(Kinds.bytes(encoded), of: Kinds.message) }
        #expect(try schema.json([0xc0, 0x3e, 1], of: Kinds.message) == "{}")
    }

    @Test("A message within itself without end is refused")
    func endless() throws {
        var bytes: [UInt8] = []
        for _ in 0..<200 {
            var length: [UInt8] = []
            var rest = bytes.count
            repeat {
                length.append(UInt8(rest & 0x7f) | (rest > 0x7f ? 0x80 : 0))
                rest >>= 7
            } while rest > 0
            bytes = [0x5a] + length + bytes
        }
        #expect(throws: MessageRejection.self) { try schema.json(bytes, of: Kinds.message) }
        // The same as a description: a file (1) with a message (4) with a message (3) within it, and so on.
        let nested = bytes.map { $0 == 0x5a ? 0x1a : $0 }
        let file = [0x22, UInt8(nested.count & 0x7f) | 0x80, UInt8(nested.count >> 7)] + nested
        let set = [0x0a, UInt8(file.count & 0x7f) | 0x80, UInt8(file.count >> 7)] + file
        #expect(throws: MessageRejection.self) { try ContractSchema(fileDescriptorSet: set) }
    }

    @Test("No octet changed in a message or in a description makes more than an error of it")
    func mutants() throws {
        var random = SystemRandomNumberGenerator()
        let description = ContractDescriptors.fileDescriptorSet
        for (encoded, _) in Kinds.messages {
            for _ in 0..<500 {
                var bytes = Kinds.bytes(encoded)
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                _ = try? schema.json(bytes, of: Kinds.message)
            }
        }
        for _ in 0..<20 {
            var bytes = description
            for _ in 0..<10 { bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random) }
            _ = try? ContractSchema(fileDescriptorSet: bytes)
        }
    }
}
