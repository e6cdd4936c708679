import ContractRuntime
import Contracts
import Testing

/// Each field of each message, through C and Swift and back.
@Suite struct EveryMessageTests {
    private static let types = MessageTypes.all
    private static let names = types.map { type in type.messageName }

    private let samples = SampleMessages.shared

    @Test("keeps every field, whatever member of a oneof is set", arguments: Self.names, 0..<3)
    func keepsEveryField(_ name: String, _ choice: Int) throws {
        let type = try #require(Self.types.first { $0.messageName == name })
        let sample = samples.bytes(name, choice: choice)
        #expect(try encodedAgain(type, sample) == sample)
    }

    @Test func noMessageIsLeftOut() {
        #expect(Set(Self.names) == samples.names.filter { !$0.hasPrefix("boxoffice.wire.") })
        #expect(samples.bytes("boxoffice.config.v1.Mvpd", choice: 0).count > 300)
    }

    @Test(arguments: Self.names) func fieldsOfAnyLengthAreRefusedWhenTheyAreCut(_ name: String) throws {
        let type = try #require(Self.types.first { $0.messageName == name })
        let sample = samples.bytes(name, choice: 0)
        for count in 0..<sample.count {
            // A message cut between two fields is a shorter message; any other cut makes it invalid. Neither may crash or invent bytes.
            if let again = try? encodedAgain(type, [UInt8](sample.prefix(count))) { #expect(sample.starts(with: again)) }
        }
    }

    private func encodedAgain<Value: Message>(_ type: Value.Type, _ bytes: [UInt8]) throws -> [UInt8] {
        let value = try Value(serialized: bytes)
        #expect(try Value(serialized: value.serialized()) == value)
        return try value.serialized()
    }
}
