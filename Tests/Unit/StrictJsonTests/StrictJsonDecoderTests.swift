import StrictJson
import Testing

@Suite("Strict decoding")
struct StrictJsonDecoderTests {
    private struct Listener: Decodable {
        let address: String
        let port: UInt16
    }

    private struct Settings: Decodable {
        let listen: Listener
        let peers: [String: [Listener]]?
        let verbose: Bool?
    }

    private func decode(_ text: String) throws -> Settings {
        try StrictJsonDecoder().decode(Settings.self, from: JsonDocument(parsing: Array(text.utf8)))
    }

    @Test("decodes what is asked for, null and absent alike for optionals")
    func decodes() throws {
        let settings = try decode(#"{"listen": {"address": "::1", "port": 7}, "peers": {"a": [{"address": "x", "port": 9}]}, "verbose": null}"#)
        #expect(settings.listen.port == 7)
        #expect(settings.peers?["a"]?.first?.port == 9)
        #expect(settings.verbose == nil)
    }

    @Test(
        "the first problem names the key and its place",
        arguments: [
            (#"{"listen": {"address": "a", "port": 7, "prot": 8}}"#, "listen.prot (line 1, column 40) is not known here; known are address, port"),
            (#"{"listen": {"address": "a", "port": 70000}}"#, "listen.port (line 1, column 37) must be a whole number from 0 to 65535; it is 70000"),
            (#"{"listen": {"address": "a", "port": 7.5}}"#, "listen.port (line 1, column 37) must be a whole number from 0 to 65535; it is 7.5"),
            (#"{"listen": {"address": "a"}}"#, "listen.port is missing"),
            (#"{"listen": {"address": 5, "port": 7}}"#, "listen.address (line 1, column 24) must be a string; it is a number"),
            (#"{"listen": []}"#, "listen (line 1, column 12) must be an object; it is an array"),
            (#"{"listen": {"address": "a", "port": 7}, "listen": 1}"#, "listen (line 1, column 41) occurs twice"),
            (
                #"{"listen": {"address": "a", "port": 7}, "peers": {"b": [{"address": "x", "port": 1, "x": 1}]}}"#,
                "peers.b[0].x (line 1, column 85) is not known here; known are address, port"
            ),
        ])
    func namesProblem(text: String, message: String) {
        let problem = #expect(throws: JsonRejection.self) { try decode(text) }
        #expect(problem?.description == message)
    }
}
