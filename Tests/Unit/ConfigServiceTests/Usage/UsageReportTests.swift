import Clocks
@testable import ConfigService
import ContractRuntime
import Contracts
import Faults
import Testing

@Suite("Usage reports", .eachEngine) struct UsageReportTests {
    private let fixture: UsageFixture

    init() async throws {
        fixture = try UsageFixture()
        try await fixture.push([
            UsageFixture.sum(UsageCounts(authnAttempts: 3, authnPending: 2, authnSuccessful: 1)),
            UsageFixture.sum(UsageCounts(authnFailed: 1), reason: "signature"),
            UsageFixture.sum(UsageCounts(authzAttempts: 2, authzSuccessful: 2, authzLatencyMilliseconds: 80, mediaTokens: 5), resource: "NEWS"),
            UsageFixture.sum(UsageCounts(mediaTokens: 1), requestor: "ACME2", mvpd: "SmallTel", api: .restV2, before: 60),
            UsageFixture.sum(UsageCounts(mediaTokens: 7), requestor: "BRAVO"),
        ])
    }

    @Test("one row joins authentication and authorization; the root gives one total of the caller's requestors")
    func total() async throws {
        let report = try await fixture.report(
            "", metrics: ["authn-attempts", "authz-latency", "media-tokens", "clientless-tokens", "decision-media-tokens"])
        #expect(report.lines == [": 3 80 6 1 1"])
        #expect(report.dimensions.isEmpty && report.drillDown == ["year", "media-company", "mvpd"])
        #expect(try await fixture.report("", of: ["BRAVO"], metrics: ["media-tokens"]).lines == [": 7"])
        #expect(try await fixture.report("", of: []).rows.isEmpty)
    }

    @Test("names that differ in their octets alone have rows of their own")
    func octets() async throws {
        try await fixture.push(
            [
                UsageFixture.sum(UsageCounts(mediaTokens: 1), resource: "caf\u{e9}"),
                UsageFixture.sum(UsageCounts(mediaTokens: 2), resource: "cafe\u{301}"),
            ], 2)
        let lines = try await fixture.report("year", filters: [UsageFilter(dimension: "resource-id")], metrics: ["media-tokens"]).lines.filter {
            $0.contains("caf")
        }
        #expect(lines.count == 2)
    }

    @Test("the path is the GROUP BY, in Pacific time; every row has all dimensions of the path")
    func path() async throws {
        let hours = try await fixture.report("year/month/day/hour/requestor-id", metrics: ["media-tokens"])
        #expect(hours.dimensions == ["year", "month", "day", "hour", "requestor-id"])
        #expect(hours.lines == ["2026 11 26 8 ACME2: 1", "2026 11 26 9 ACME1: 5"])
        let minutes = try await fixture.report("year/month/day/hour/minute", metrics: ["media-tokens"], limit: 1)
        #expect(minutes.lines == ["2026 11 26 8 45: 1"] || minutes.lines == ["2026 11 26 9 45: 5"])
        let named = try await fixture.report("media-company/year/month/day/proxy/mvpd", metrics: ["media-tokens"])
        #expect(named.lines == ["acme 2026 11 26 Direct NorthCable: 5", "acme 2026 11 26 Proxy SmallTel: 1"])
        let application = try await fixture.report("year/month/day/requestor-id/application-name/application-version", metrics: ["media-tokens"])
        #expect(application.lines == ["2026 11 26 ACME1 Acme TV 2.1: 5", "2026 11 26 ACME2 Acme TV 2.1: 1"])
        #expect(try await fixture.report("year", metrics: ["media-tokens"]).lines == ["2026: 6"])
    }

    @Test("dashboard #38: what is split up adds up to what it was split from", arguments: ["media-tokens", "authz-attempts", "authn-attempts"])
    func addsUp(metric: String) async throws {
        func sum(_ path: String) async throws -> UInt64 {
            try await fixture.report(path, metrics: [metric]).rows.flatMap(\.counts).reduce(0, +)
        }
        let whole = try await sum("year")
        #expect(whole > 0)
        for path in [
            "year/month", "year/month/day", "year/month/day/hour", "year/month/day/hour/minute", "year/month/day/requestor-id/proxy/mvpd",
            "year/month/day/requestor-id/channel",
        ] {
            #expect(try await sum(path) == whole, "\(path)")
        }
    }

    @Test("filters: one of, none of, and the bare name; not on time, not on what there is not")
    func filters() async throws {
        func lines(_ filters: UsageFilter...) async throws -> [String] {
            try await fixture.report("year", filters: filters, metrics: ["media-tokens"]).lines
        }
        #expect(try await lines(UsageFilter(dimension: "mvpd", values: ["SmallTel"])) == ["2026: 1"])
        #expect(try await lines(UsageFilter(dimension: "mvpd", values: ["SmallTel", "NorthCable"])) == ["2026: 6"])
        #expect(try await lines(UsageFilter(dimension: "mvpd", values: ["SmallTel"], isExcluding: true)) == ["2026: 5"])
        #expect(try await lines(UsageFilter(dimension: "requestor-id", values: ["BRAVO"])).isEmpty)
        #expect(try await lines(UsageFilter(dimension: "api")) == ["2026 REST v1: 5", "2026 REST v2: 1"])
        #expect(try await lines(UsageFilter(dimension: "nsdk", values: ["not-sdk"]), UsageFilter(dimension: "arch")) == ["2026 clientless: 6"])
        for name in ["hour", "nothing", "Mvpd"] {
            await #expect { try await lines(UsageFilter(dimension: name, values: ["1"])) } throws: { ($0 as? Fault)?.code == .invalidRequest }
        }
    }

    @Test("event reports count each event, with reasons")
    func events() async throws {
        let report = try await fixture.report("year/month/day/event")
        #expect(report.metrics == ["count"])
        #expect(
            report.lines == [
                "2026 11 26 authn-attempt: 3", "2026 11 26 authn-failed: 1", "2026 11 26 authn-pending: 2", "2026 11 26 authn-successful: 1",
                "2026 11 26 authz-attempt: 2", "2026 11 26 authz-successful: 2", "2026 11 26 media-token: 6",
            ])
        let reasons = try await fixture.report(
            "year/month/day/event/media-company/requestor-id/proxy/mvpd/reason", filters: [UsageFilter(dimension: "event", values: ["authn-failed"])])
        #expect(reasons.lines == ["2026 11 26 authn-failed acme ACME1 Direct NorthCable signature: 1"])
    }

    @Test("metrics: those that were asked for; unknown ones, and such as nobody counts, are refused")
    func metrics() async throws {
        #expect(try await fixture.report("year", metrics: ["media-tokens", "authn-failed"]).lines == ["2026: 6 1"])
        #expect(try await fixture.report("year").metrics.count == 16)
        let ofMvpds = try await fixture.report("mvpd/year")
        #expect(ofMvpds.metrics.allSatisfy { $0.hasPrefix("authn-") || $0.hasPrefix("authz-") } && ofMvpds.rows.count == 2)
        for metric in ["unique-accounts", "count", "nothing"] {
            await #expect { try await fixture.report("year", metrics: [metric]) } throws: { ($0 as? Fault)?.code == .invalidRequest }
        }
        await #expect { try await fixture.report("mvpd/year", metrics: ["media-tokens"]) } throws: { ($0 as? Fault)?.code == .invalidRequest }
    }

    @Test("start and end are Pacific time to the minute; nothing found is an empty report")
    func times() async throws {
        func count(_ start: String, _ end: String = "") async throws -> [String] {
            try await fixture.report("year/month/day", start: start, end: end, metrics: ["media-tokens"]).lines
        }
        #expect(try await count("2026-11-26") == ["2026 11 26: 6"])
        #expect(try await count("2026-11-26T09") == ["2026 11 26: 5"])
        #expect(try await count("2026-11-26T08:45", "2026-11-26T08:46") == ["2026 11 26: 1"])
        #expect(try await count("2026-11-26T08:46", "2026-11-26T09:45").isEmpty)
        #expect(try await count("2026-11-26T17:45:00Z") == ["2026 11 26: 5"])
        #expect(try await count(String(UsageFixture.now.milliseconds)) == ["2026 11 26: 5"])
        #expect(try await count("2025", "2026").isEmpty)
        for text in ["yesterday", "2026-13", "2026-11-31", "26-11-26", "2026-11-26T25", "2026-11-26T24", "2026-11-26T09:60", "2026-11-26T09:45:61"] {
            await #expect { try await count(text) } throws: { ($0 as? Fault)?.code == .invalidRequest }
        }
        let report = try await fixture.report("year/month")
        #expect(report.start == "2025-11-01T00:00:00" && report.end == "2026-11-26T09:45:00" && report.limit == 1000)
    }

    @Test("a chain that there is not, is not found; a limit has its bounds")
    func refusals() async throws {
        for path in ["month", "year/day", "year/mvpd", "nothing", "year/month/day/dc/mvpd", "year/month/day/minute", "mvpd/year/month/day/proxy"] {
            await #expect("\(path)") { try await fixture.report(path) } throws: { ($0 as? Fault)?.code == .notFound }
        }
        await #expect { try await fixture.report("year", limit: 10_001) } throws: { ($0 as? Fault)?.code == .invalidRequest }
        #expect(try await fixture.report("year/month/day/requestor-id", limit: 1).rows.count == 1)
        #expect(try await fixture.report("year", limit: 10_000).limit == 10_000)
        func filter(_ values: Int) -> [UsageFilter] { [UsageFilter(dimension: "channel", values: (0..<values).map { "c\($0)" })] }
        #expect(try await fixture.report("year", filters: filter(199)).rows.isEmpty)
        await #expect { try await fixture.report("year", filters: filter(200)) } throws: { ($0 as? Fault)?.code == .invalidRequest }
    }

    @Test("usage of a requestor from before its programmer had the id is another programmer's, and in no report")
    func formerOwners() async throws {
        let fixture = try UsageFixture(since: UsageFixture.now - .seconds(90))
        try await fixture.push([
            UsageFixture.sum(UsageCounts(mediaTokens: 1), requestor: "BRAVO"),
            UsageFixture.sum(UsageCounts(mediaTokens: 2), requestor: "BRAVO", before: 2),
            UsageFixture.sum(UsageCounts(mediaTokens: 4), requestor: "BRAVO", before: 60 * 24),
        ])
        #expect(try await fixture.report("year/month/day/hour/minute", of: ["BRAVO"], metrics: ["media-tokens"]).lines == ["2026 11 26 9 45: 1"])
        for path in ["", "year/month/day", "year/month/day/hour"] {
            #expect(
                try await fixture.report(path, of: ["BRAVO"], metrics: ["media-tokens"]).lines.allSatisfy { !$0.hasSuffix("6") && !$0.hasSuffix("4") }
            )
        }
    }
}
