@testable import CommandKit
@testable import WorkshopCommands
import ArgumentParser
import Foundation
import Testing

@Suite("What grows in a soak")
struct SoakTests {
    private static let mebibyte = 1_048_576.0

    /// A sample each ten seconds.
    private static func points(_ count: Int, _ value: (Double) -> Double) -> [Growth.Point] {
        (0..<count).map { Growth.Point(seconds: Double($0) * 10, value: value(Double($0) * 10)) }
    }

    private static func series(_ quantity: SoakQuantity, _ count: Int = 400, bound: Double? = nil, _ value: (Double) -> Double) -> SoakSeries {
        SoakSeries(quantity: quantity, name: "gateway", points: points(count, value), bound: bound)
    }

    @Test("the slope is that of the line of least squares, per hour, whatever the level is")
    func slope() throws {
        for level in [0, 1e3, 4e12] {
            let growth = try #require(Growth(Self.points(100) { level + 3 * $0 + ($0.truncatingRemainder(dividingBy: 20) == 0 ? 5 : -5) }))
            #expect(abs(growth.perHour - 3 * 3600) < 40 && abs(growth.latePerHour - 3 * 3600) < 120, "\(growth)")
            #expect(abs(growth.hours - 990.0 / 3600) < 1e-9)
        }
        // By hand: times 0…7, values 1, 3, 2, 5, 4, 6, 8, 7 have the slope 39 / 42.
        let values: [Double] = [1, 3, 2, 5, 4, 6, 8, 7]
        let growth = try #require(Growth(values.enumerated().map { Growth.Point(seconds: Double($0), value: $1) }))
        #expect(abs(growth.perHour / 3600 - 39.0 / 42) < 1e-12 && growth.level == 4.5)
        #expect(Growth(Self.points(7) { $0 }) == nil)
        #expect(Growth((0..<20).map { _ in Growth.Point(seconds: 5, value: 1) }) == nil)
    }

    @Test("memory that goes on growing is found; what levels off, swings or falls is not")
    func memory() {
        let grows = Self.series(.ownMemory) { 100 * Self.mebibyte + $0 * 20 * Self.mebibyte / 4000 }
        #expect(grows.verdict(after: 0) == .grows)
        #expect(grows.verdict(after: 3000) == .unknown, "5 MiB in a quarter of an hour may be a step, or a leak of 18 MiB an hour")
        #expect(Self.series(.ownMemory) { (100 + min($0, 1500) * 80 / 1500) * Self.mebibyte }.verdict(after: 0) == .steady, "a cache that is full")
        #expect(Self.series(.ownMemory) { (100 + 7 * sin($0 / 50)) * Self.mebibyte }.verdict(after: 0) == .steady)
        #expect(Self.series(.ownMemory) { (200 - $0 / 40) * Self.mebibyte }.verdict(after: 0) == .steady)
        #expect(Self.series(.ownMemory) { (1000 + $0 / 400) * Self.mebibyte }.verdict(after: 0) == .steady, "9 MiB an hour of 1 GiB")
        #expect(Self.series(.ownMemory) { (1000 + $0 / 300) * Self.mebibyte }.verdict(after: 0) == .grows, "12 MiB an hour of 1 GiB")
        #expect(Self.series(.residentMemory) { $0 * Self.mebibyte }.verdict(after: 0) == .told)
    }

    /// Recorded: `boxoffice soak --for 40m --warm-up 12m --rate 60`, programs of 22b58eb4 (RESULTS.md). Own memory in MiB.
    private static let recorded: [(process: String, first: Double, perHour: Double, latePerHour: Double, verdict: SoakSeries.Verdict)] = [
        ("authentication", 24.5, 15.5, 13.8, .grows), ("authorization", 12.4, 5.2, 4.1, .grows), ("autosignin", 9.7, 1.7, 1.6, .steady),
        ("config", 9.1, 1.4, 1.2, .steady), ("gateway", 14.1, 0.9, 0.5, .steady), ("sandbox", 10.8, 5.2, 3.8, .grows),
    ]

    @Test("memory that rises slowly and without end is found in half an hour, by figures that were recorded once", arguments: recorded.indices)
    func slowGrowth(_ index: Int) throws {
        let one = Self.recorded[index]
        let half = 14 * 60.0
        // Two straight parts: the later one has its slope, and the earlier one the rest.
        let early = 2 * one.perHour - one.latePerHour
        let series = Self.series(.ownMemory, 169) { seconds in
            (one.first + min(seconds, half) / 3600 * early + max(0, seconds - half) / 3600 * one.latePerHour) * Self.mebibyte
        }
        let growth = try #require(series.growth(after: 0))
        #expect(abs(growth.latePerHour / Self.mebibyte - one.latePerHour) < 0.1 && abs(growth.perHour / Self.mebibyte - one.perHour) < 0.1)
        #expect(growth.sureGrowth < 8 * Self.mebibyte, "the growth in all says nothing of it")
        #expect(series.verdict(after: 0) == one.verdict, "\(one)")
        // As long as the warm-up of a soak of half an hour leaves.
        let short = SoakSeries(quantity: .ownMemory, name: one.process, points: Array(series.points.prefix(130)))
        #expect(short.verdict(after: 0) == (one.verdict == .grows ? .unknown : .steady), "\(one)")
    }

    @Test("a soak in which a process rises by 13.8 MiB an hour is not steady: it fails, or is too short to say")
    func slowGrowthIsReported() {
        func report(seconds: Int) -> SoakReport {
            Self.report(
                Self.record(seconds: seconds) { second, sample in
                    sample.values[.init(quantity: .ownMemory, name: "gateway")] = (50 + 13.8 * Double(second) / 3600) * Self.mebibyte
                })
        }
        let (long, short) = (report(seconds: 1700), report(seconds: 1000))
        #expect(long.verdict == .failed && long.problems == ["own memory of gateway grows by 13.8 MiB an hour, in the later half by 13.8 MiB"])
        #expect(short.verdict == .unknown && short.lines.last == "Verdict: none; it was too short to tell steady from slow growth")
    }

    @Test("what grows in number, and what has a bound")
    func others() {
        #expect(Self.series(.openFiles) { 40 + $0 / 100 }.verdict(after: 0) == .grows)
        #expect(Self.series(.openFiles) { 40 + 10 * sin($0) }.verdict(after: 0) == .steady)
        #expect(Self.series(.threads) { 8 + $0 / 500 }.verdict(after: 0) == .grows)
        #expect(Self.series(.store) { $0 * Self.mebibyte }.verdict(after: 0) == .told)
        #expect(Self.series(.journal, bound: 64) { min($0, 64) }.verdict(after: 0) == .steady)
        #expect(Self.series(.journal, bound: 64) { $0 == 10 ? 65 : 1 }.verdict(after: 1000) == .overBound, "in the warm-up too")
        #expect(Self.series(.ownMemory, 7) { $0 }.verdict(after: 0) == .unknown)
    }

    private static func record(seconds: Int = 400, _ change: (Int, inout SoakSample) -> Void = { _, _ in }) -> SoakRecord {
        var record = SoakRecord(logBound: 1000 * mebibyte)
        for second in 0..<seconds {
            var sample = SoakSample()
            for name in ["config", "gateway"] {
                sample.starts[name] = 7
                for (quantity, value) in [(SoakQuantity.ownMemory, 50 * mebibyte), (.residentMemory, 90 * mebibyte), (.openFiles, 40), (.threads, 9)]
                {
                    sample.values[.init(quantity: quantity, name: name)] = value
                }
                sample.values[.init(quantity: .log, name: name)] = 300 * mebibyte
            }
            for (quantity, value) in [(SoakQuantity.store, 5 * mebibyte), (.journal, 4 * mebibyte), (.freePages, 0)] {
                sample.values[.init(quantity: quantity, name: "authentication")] = value
            }
            change(second, &sample)
            record.add(sample, at: Double(second))
        }
        return record
    }

    private static func report(_ record: SoakRecord, load: SoakReport.Load = .init(rate: 50, iterations: 10, succeeded: 1000)) -> SoakReport {
        SoakReport(record: record, warmUp: 100, load: load)
    }

    @Test("a soak in which nothing grows is steady, as people and programs read it")
    func steady() throws {
        let report = Self.report(Self.record())
        #expect(report.verdict == .steady && report.problems.isEmpty)
        #expect(report.lines.last == "Verdict: steady; nothing grows that should not")
        #expect(report.lines.contains { $0.hasPrefix("  gateway") && $0.contains("50 MiB") && $0.contains("90 MiB") })
        #expect(report.lines.contains { $0.hasPrefix("  all") && $0.contains("600 MiB") })
        let data = try JSONSerialization.data(withJSONObject: report.members)
        let object = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
        let series = try #require(object["series"] as? [[String: Any]])
        #expect(object["verdict"] as? String == "steady" && series.count == 14)
        let own = try #require(series.first { $0["quantity"] as? String == "ownMemory" })
        #expect(own["perHour"] as? Double == 0 && own["samples"] as? Int == 300 && own["unit"] as? String == "bytes")
        #expect(Self.report(Self.record(seconds: 104)).verdict == .unknown)
    }

    @Test("each thing that is wrong is named")
    func problems() {
        let leak = Self.report(
            Self.record { second, sample in
                sample.values[.init(quantity: .ownMemory, name: "gateway")] = (50 + Double(second)) * Self.mebibyte
                sample.values[.init(quantity: .journal, name: "authentication")] = Double(second) * Self.mebibyte
            })
        #expect(leak.verdict == .failed)
        #expect(leak.problems.count == 2 && leak.problems[0].hasPrefix("own memory of gateway grows by 3.52 GiB an hour"))
        #expect(leak.problems[1] == "write-ahead log of authentication was 399 MiB, above its bound of 64 MiB")

        let logs = Self.report(Self.record { $1.values[.init(quantity: .log, name: "gateway")] = 800 * Self.mebibyte })
        #expect(logs.problems == ["log of all was 1.07 GiB, above its bound of 1000 MiB"])

        let ended = Self.report(
            Self.record { second, sample in
                if second > 200 { sample.starts["config"] = 8 }
                if second == 300 || second == 301 { sample.starts["gateway"] = nil }
            })
        #expect(ended.problems == ["config was started again", "gateway has ended"] && ended.verdict == .failed)

        let errors = SoakReport.Load(rate: 50, iterations: 9, succeeded: 980, failed: 20, errors: ["http_503"])
        #expect(Self.report(Self.record(), load: errors).problems == ["2 % of the calls failed: http_503"])
        #expect(Self.report(Self.record(), load: .init(rate: 50, succeeded: 995, failed: 5)).verdict == .steady)
    }

    @Test("a process that grows while its caches fill is told with them; those that are full, shrink or belong to another are not")
    func caches() {
        let report = Self.report(
            Self.record { second, sample in
                sample.values[.init(quantity: .ownMemory, name: "gateway")] = (50 + Double(second)) * Self.mebibyte
                let entries: [(cache: String, program: String, entries: Double)] = [
                    ("sessions", "gateway", 10 * Double(second)), ("codes", "gateway", second < 200 ? 9500 : 5000 + Double(second)),
                    ("logins", "gateway", 4000 - Double(second)), ("tokens", "config", 10 * Double(second)),
                ]
                for (cache, program, entries) in entries {
                    let labels = "{store=\"s\",cache=\"\(cache)\"}"
                    sample.addCaches(
                        "boxoffice_storage_cache_entries\(labels) \(entries)\nboxoffice_storage_cache_limit_entries\(labels) 10000\nother 1\n",
                        of: program)
                }
            })
        #expect(report.verdict == .failed && report.problems.count == 1)
        #expect(report.problems[0].hasSuffix("; its caches fill: sessions 3,990 of 10,000"), "\(report.problems)")
        #expect(report.lines.contains { $0.hasPrefix("  gateway: sessions") }, "\(report.lines)")
    }

    @Test("what the system and a store's header say")
    func reading() async throws {
        #expect(SoakSample.ownMemory("VmRSS:\t   90000 kB\nRssAnon:\t   43008 kB\nRssFile:\t 1 kB\n") == 42 * Self.mebibyte)
        #expect(SoakSample.ownMemory("VmRSS:\t 1 kB\n") == nil)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-\(UUID().uuidString)")
        let home = ClusterHome(root: folder)
        try home.prepare()
        defer { try? FileManager.default.removeItem(at: folder) }
        var header = Array("SQLite format 3\u{0}".utf8) + [0x10, 0x00] + [UInt8](repeating: 0, count: 82)
        header[38] = 1
        try Data(header).write(to: home.data.appendingPathComponent("authentication.sqlite"))
        try Data("no store".utf8).write(to: home.data.appendingPathComponent("other.sqlite"))
        try Data(count: 500).write(to: home.data.appendingPathComponent("authentication.sqlite-wal"))
        try Data(count: 30).write(to: home.log(of: .gateway))
        try Data(count: 70).write(to: home.log(of: .gateway).appendingPathExtension("20310304T100000000Z"))
        let values = await SoakSample.take(home, []) { _ in nil }.values
        #expect(values[.init(quantity: .freePages, name: "authentication")] == Self.mebibyte)
        #expect(values[.init(quantity: .freePages, name: "other")] == nil)
        #expect(values[.init(quantity: .journal, name: "authentication")] == 500)
        #expect(values[.init(quantity: .journal, name: "other")] == 0)
        #expect(values[.init(quantity: .log, name: "gateway")] == 100)
        #expect(SoakCommand.logBound(home) == 1024 * Self.mebibyte)
        try Data(#"{"log": {"allMebibytes": 2048}}"#.utf8).write(to: home.settings(of: .gateway))
        #expect(SoakCommand.logBound(home) == 2048 * Self.mebibyte)
    }

    @Test(
        "options",
        arguments: [["--for", "8h"], ["--for", "20s", "--warm-up", "0"], ["--for", "10m", "--rate", "600/m", "--devices", "5", "--json"]])
    func good(arguments: [String]) throws { _ = try SoakCommand.parse(arguments) }

    @Test(
        "what is refused",
        arguments: [
            [], ["--for", "10s"], ["--for", "8d"], ["--for", "1m", "--warm-up", "50s"], ["--for", "1m", "--rate", "none"],
            ["--for", "1m", "--devices", "0"],
        ])
    func bad(arguments: [String]) { #expect(throws: (any Error).self) { try SoakCommand.parse(arguments) } }
}
