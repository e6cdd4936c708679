@testable import ConfigService
import Faults
import Testing

/// What is known of an entry's text before its members are looked at.
@Suite("Texts of entries")
struct EntityTextTests {
    @Test("half a mebibyte is taken, and one byte more is not")
    func longest() throws {
        let longest = "{" + String(repeating: " ", count: 512 * 1024 - 2) + "}"
        _ = try EntityText.object(longest, field: "entry")
        #expect(throws: Fault.self) { try EntityText.object(longest + " ", field: "entry") }
    }
}
