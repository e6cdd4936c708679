import Foundation
import Testing

@testable import GatewayEdge

@Suite("Request ids")
struct RequestIdentifierTests {
    @Test("are version 4 UUIDs in lower case, each another one")
    func areUUIDs() throws {
        var seen: Set<String> = []
        for _ in 0..<1000 {
            let text = RequestIdentifier.random()
            let uuid = try #require(UUID(uuidString: text))
            #expect(uuid.uuidString.lowercased() == text)
            #expect(uuid.uuid.6 >> 4 == 4)
            #expect(uuid.uuid.8 >> 6 == 0b10)
            seen.insert(text)
        }
        #expect(seen.count == 1000)
    }
}
