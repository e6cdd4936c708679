import Testing

@testable import StoragePostgres

@Suite("Clocks of a host and of its server")
struct ClockOffsetTests {
    @Test(
        "what the way took is not held against a clock",
        arguments: [
            (1000, 1000, 1000, 0), (1000, 1200, 1100, 0), (1000, 1200, 1000, 0), (1000, 1200, 1201, 1), (1000, 1200, 999, -1),
            (1000, 1000, 5000, 4000),
            (100_000, 100_400, 60_000, -40_000),
        ] as [(Int64, Int64, Int64, Int64)])
    func offsets(asked: Int64, answered: Int64, server: Int64, expected: Int64) {
        let offset = ClockOffset(asked: asked, answered: answered, server: server)
        #expect(offset.milliseconds == expected)
        #expect((offset.advice != nil) == (abs(expected) > 2000))
        #expect((offset.trouble != nil) == (abs(expected) > 30_000))
    }

    @Test("operators read how far they are apart")
    func texts() {
        #expect(ClockOffset(asked: 0, answered: 0, server: -31_450).trouble?.contains("31.4 s apart") == true)
        #expect(ClockOffset(asked: 0, answered: 0, server: 2_100).advice?.contains("2.1 s apart") == true)
    }
}
