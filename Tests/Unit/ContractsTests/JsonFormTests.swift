import ContractReflection
import ContractRuntime
import Contracts
import Foundation
import StrictJson
import Testing

@Suite struct JsonFormTests {
    private let schema: ContractSchema
    /// Read once: each case of a test has a suite of its own.
    private static let shared = Result { try ContractSchema(fileDescriptorSet: ContractDescriptors.fileDescriptorSet) }

    init() throws { schema = try Self.shared.get() }

    @Test func isTheOneOfTheProto3LanguageGuide() throws {
        var configuration = Configuration(version: .max, changedAtMilliseconds: 1_700_000_000_000)
        configuration.programmers = [
            Programmer(id: "acme", name: "Ac\"me\\ \n\t\u{1}é😀", certificates: [Certificate(der: [0xff, 0, 0x10, 0x7f], revoked: true)])
        ]
        var mvpd = Mvpd(id: "North", signIn: .tempPass(TempPass(kind: .promotional, ttlSeconds: 60)))
        mvpd.platforms = [PlatformSettings(platform: .tvos), PlatformSettings(platform: .unrecognized(77))]
        mvpd.authorization = AuthorizationEndpoint()
        configuration.mvpds = [mvpd, Mvpd(signIn: .saml(SamlEndpoint()))]
        configuration.applications = [Application(requestorIDs: ["a", "b"])]
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json(configuration).utf8)) as? NSDictionary)
        let expected: NSDictionary = [
            "version": "18446744073709551615", "changedAtMs": "1700000000000",
            "programmers": [
                ["id": "acme", "name": "Ac\"me\\ \n\t\u{1}é😀", "certificates": [["der": "/wAQfw==", "revoked": true]]]
            ],
            "mvpds": [
                [
                    "id": "North", "tempPass": ["kind": "TEMP_PASS_KIND_PROMOTIONAL", "ttlS": 60], "authorization": [String: Any](),
                    "platforms": [["platform": "PLATFORM_TVOS"], ["platform": 77]],
                ],
                ["saml": [String: Any]()],
            ],
            "applications": [["requestorIds": ["a", "b"]]],
        ]
        #expect(object == expected, "\(object)")
    }

    @Test func isNothingForAnEmptyMessage() throws {
        #expect(try json(Configuration()) == "{}")
    }

    @Test("is JSON with each field of each message, there and back", arguments: MessageTypes.all.map { $0.messageName }, 0..<3)
    func isJsonOfEveryMessage(_ name: String, _ choice: Int) throws {
        let type = try #require(MessageTypes.all.first { $0.messageName == name })
        let sample = SampleMessages.shared.bytes(name, choice: choice)
        let text = try schema.json(sample, of: name)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(object.isEmpty == sample.isEmpty)
        try checkReturn(type, sample, text)
    }

    private func checkReturn<Value: Message>(_ type: Value.Type, _ sample: [UInt8], _ text: String) throws {
        let encoded = try schema.encode(try JsonDocument(parsing: Array(text.utf8)).root, as: Value.messageName)
        #expect(try Value(serialized: encoded) == Value(serialized: sample), "\(text)")
    }

    private func json<Value: Message>(_ value: Value) throws -> String { try schema.json(try value.serialized(), of: Value.messageName) }
}
