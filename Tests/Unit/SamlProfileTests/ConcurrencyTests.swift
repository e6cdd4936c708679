import SamlProfile
import SamlSigner
import Testing

struct ConcurrencyTests {
    private let world: World
    private let messages: [String]
    private let hostile: String

    init() throws {
        let world = try World.shared.get()
        self.world = world
        messages = try (0..<4).map { number in try world.assertion { $0.nameID = "person-\(number)" } }
        hostile = try world.response().replacingFirst("k3Yq-0091", with: "victim")
    }

    @Test("many messages are verified at once, with the same keys, and none is confused with another")
    func verifiesConcurrently() async throws {
        let expected = try world.expected()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<32 {
                group.addTask { try verifyInTurn(from: task, expected) }
            }
            try await group.waitForAll()
        }
    }

    private func verifyInTurn(from start: Int, _ expected: ExpectedResponse) throws {
        for number in (start..<start + 25).map({ $0 % messages.count }) {
            #expect(try world.accepted(messages[number], expected).userID.rawValue == "person-\(number)")
            #expect(try world.outcome(hostile, expected) == "sig.invalid")
        }
    }
}
