import Clocks
@testable import ConfigService
import ContractRuntime
import Contracts
import Faults
import Foundation
import Testing

@Suite("Usage: taking in and forgetting", .eachEngine) struct UsageTakingTests {
    private static let play = UsageCounts(mediaTokens: 1)

    private func tokens(_ fixture: UsageFixture, _ path: String = "", start: String = "") async throws -> UInt64 {
        try await fixture.report(path, start: start, metrics: ["media-tokens"]).rows.reduce(0) { $0 + $1.counts[0] }
    }

    @Test("a batch counts once, however often it comes, whichever copy is asked; another copy's numbers are its own")
    func idempotency() async throws {
        let fixture = try UsageFixture()
        for _ in 0..<3 { try await fixture.push([UsageFixture.sum(Self.play)], 1) }
        #expect(try await tokens(fixture) == 1)
        try await fixture.push([UsageFixture.sum(Self.play)], 2)
        try await fixture.push([UsageFixture.sum(Self.play)], 1)
        #expect(try await tokens(fixture) == 2)
        try await fixture.push([UsageFixture.sum(Self.play)], copy: "copy-2", 1)
        #expect(try await tokens(fixture) == 3)
    }

    @Test("the same batch from many tasks at once counts once, whichever copies get it")
    func race() async throws {
        let fixture = try UsageFixture()
        let other = try UsageFixture(beside: fixture)
        try await withThrowingTaskGroup { group in
            for number in 0..<8 { group.addTask { try await (number % 2 == 0 ? fixture : other).push([UsageFixture.sum(Self.play)], 1) } }
            try await group.waitForAll()
        }
        #expect(try await tokens(fixture) == 1)
        #expect(try await tokens(other) == 1)
    }

    @Test("batches of many callers through two copies all count, and each copy reports them all, also those that came since it was asked last")
    func copies() async throws {
        let copies = [try UsageFixture()]
        let both = copies + [try UsageFixture(beside: copies[0])]
        for round in UInt64(1)...3 {
            try await withThrowingTaskGroup { group in
                for caller in 0..<6 {
                    group.addTask {
                        let sums = (0..<40).map { UsageFixture.sum(Self.play, resource: "resource-\(round)-\(caller % 3)-\($0)") }
                        try await both[(caller + Int(round)) % 2].push(sums, copy: "copy-\(caller)", round)
                    }
                }
                try await group.waitForAll()
            }
            for copy in both {
                #expect(try await tokens(copy) == round * 240)
                let channels = try await copy.report("year/month/day/requestor-id/channel", metrics: ["media-tokens"], limit: 1000)
                #expect(channels.rows.count == Int(round) * 120 && channels.rows.allSatisfy { $0.counts == [2] })
            }
        }
    }

    @Test("minutes go first, then hours, then days; what a coarser sum tells stays")
    func retention() async throws {
        let fixture = try UsageFixture(limits: UsageSettings(minuteDays: 1, hourDays: 2, dayDays: 3))
        try await fixture.push([UsageFixture.sum(Self.play)])
        func rows() async throws -> [Int64] {
            try await fixture.store.read { database in
                try ["usage_minute", "usage_hour", "usage_day", "usage_combination"].map { table in
                    try database.value(.init("SELECT count(*) FROM \(table)")) ?? 0
                }
            }
        }
        let start = "2026-11-01"
        for expected: [Int64] in [[1, 1, 1, 1], [0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]] {
            try await fixture.service.forget()
            #expect(try await rows() == expected)
            let count: UInt64 = expected[2] == 1 ? 1 : 0
            #expect(try await tokens(fixture, "year/month/day", start: start) == count)
            fixture.clock.advance(by: .seconds(86_400 + 3600))
        }
    }

    @Test("what goes is counted")
    func countsForgotten() async throws {
        let fixture = try UsageFixture()
        try await fixture.push((0..<3).map { UsageFixture.sum(Self.play, resource: "resource-\($0)") })
        let store = UsageStore(fixture.store, limits: UsageSettings())
        #expect(try await store.forget(.minute, before: .max) == 3)
        #expect(try await store.forget(.minute, before: .max) == 0)
    }

    @Test("a control character of an app's text is a blank in reports")
    func controlCharacters() async throws {
        let fixture = try UsageFixture()
        try await fixture.push([UsageFixture.sum(Self.play, resource: "evening\u{1b}news")])
        let channels = try await fixture.report("year/month/day/requestor-id/channel", metrics: ["media-tokens"])
        #expect(channels.lines == ["2026 11 26 ACME1 evening news: 1"])
    }

    @Test("beyond the limit new combinations are told apart by requestor and MVPD alone")
    func bound() async throws {
        let fixture = try UsageFixture(limits: UsageSettings(combinations: 3))
        try await fixture.push((0..<10).map { UsageFixture.sum(Self.play, resource: "resource-\($0)") })
        #expect(try await tokens(fixture) == 10)
        let channels = try await fixture.report("year/month/day/requestor-id/channel", metrics: ["media-tokens"])
        #expect(channels.rows.count == 4 && channels.lines.contains("2026 11 26 ACME1 other: 7"))
    }

    @Test("a clock that is ahead counts as the present; a copy's overflow keeps requestor and MVPD")
    func oddities() async throws {
        let fixture = try UsageFixture()
        var ahead = UsageFixture.sum(Self.play)
        ahead.minute += 100_000
        var other = UsageFixture.sum(Self.play)
        other.dimensions = UsageDimensions(requestorID: "ACME1", mvpdID: "NorthCable", isOther: true)
        try await fixture.push([ahead, other])
        #expect(try await fixture.report("year/month/day/requestor-id/device", metrics: ["media-tokens"]).rows.map(\.values[2]) == ["26", "26"])
        #expect(
            try await fixture.report("year/month/day/requestor-id/device", metrics: ["media-tokens"]).rows.map(\.values[4]) == ["Unknown", "other"])
    }

    @Test("a batch without a number, with too many sums or too long a text is refused")
    func refusals() async throws {
        let fixture = try UsageFixture()
        let long = UsageFixture.sum(Self.play, resource: String(repeating: "x", count: 129))
        for (sums, copy, sequence) in [
            ([], "", 1), ([], "c", 0), (Array(repeating: UsageFixture.sum(Self.play), count: 1001), "c", 1), ([long], "c", 1),
            ([], String(repeating: "c", count: 65), 1),
        ]
            as [([UsageSum], String, UInt64)]
        {
            await #expect { try await fixture.push(sums, copy: copy, sequence) } throws: { ($0 as? Fault)?.code == .invalidRequest }
        }
        let longest = UsageFixture.sum(Self.play, resource: String(repeating: "x", count: 128))
        try await fixture.push(Array(repeating: longest, count: 1000), copy: String(repeating: "c", count: 64))
    }

    @Test("settings say how long; what is left out has a default, and each has its bounds")
    func settings() throws {
        func read(_ text: String) throws -> UsageSettings { try JSONDecoder().decode(UsageSettings.self, from: Data(text.utf8)) }
        #expect(try read("{}") == UsageSettings(minuteDays: 7, hourDays: 90, dayDays: 1096, combinations: 50_000))
        #expect(try read(#"{"minuteDays": 1, "combinations": 1000}"#) == UsageSettings(minuteDays: 1, combinations: 1000))
        for text in [#"{"minuteDays": 0}"#, #"{"hourDays": 1101}"#, #"{"dayDays": 3701}"#, #"{"combinations": 999}"#] {
            #expect(throws: DecodingError.self) { try read(text) }
        }
    }

    @Test("Pacific time changes with the season")
    func seasons() throws {
        let time = try #require(PacificTime())
        // Summer ends on 1 November 2026 at 9:00 UTC: an hour comes twice.
        let texts = [1_793_519_100, 1_793_522_700, 1_793_526_300].map { time.moment(Timestamp(seconds: $0)).text }
        #expect(texts == ["2026-11-01T00:45:00", "2026-11-01T01:45:00", "2026-11-01T01:45:00"])
    }
}
