@testable import WorkshopCommands
import Testing

@Suite("How much of a contract is tried")
struct ConformanceLevelTests {
    @Test func takesALevelOrRequirements() throws {
        #expect(try ConformanceCommand.parse(["config"]).level == .full)
        #expect(try ConformanceCommand.parse(["authorization", "--level", "minimal"]).level == .minimal)
        #expect(throws: (any Error).self) { try ConformanceCommand.parse(["config", "--level", "some"]) }
        #expect(throws: (any Error).self, "both choose requirements") {
            try ConformanceCommand.parse(["config", "--level", "minimal", "--only", "WIRE-1"])
        }
    }
}
