import LoadReporting
import Testing

@testable import CommandKit
@testable import WorkshopCommands
@testable import LoadTool

/// A moment of a run that never was.
enum SampleProgress {
    static func make(
        second: Double = 12, planned: Double = 30, level: Double = 500, milliseconds: Int64 = 2, calls: Int = 498, failed: Int = 0,
        errors: [String: Int] = [:], dropped: Int = 0, step: Int? = nil, steps: Int = 0, visits: Int? = nil
    ) -> LoadRun.Progress {
        var times = LatencyHistogram()
        times.record(milliseconds * 1_000_000, times: calls)
        let sample = SecondSample(
            second: second, isWarmUp: second <= 0, elapsedNanoseconds: 1_000_000_000, due: 500, dropped: dropped, sent: calls,
            succeeded: calls - failed, failed: failed, inFlight: 8, connections: 64, p50Nanoseconds: times.value(at: 50),
            p90Nanoseconds: times.value(at: 90), p99Nanoseconds: times.value(at: 99), maxNanoseconds: times.longest, lagNanoseconds: 30_000,
            errors: errors, iterations: visits)
        return LoadRun.Progress(
            sample: sample, responseTime: times, elapsed: Int64(second * 1e9), planned: Int64(planned * 1e9), level: level, step: step, steps: steps,
            succeeded: 5976, failed: failed, dropped: dropped)
    }
}

@Suite("The live view of a load") struct LiveViewTests {
    private let plain = Console(isStyled: false)

    private func view(_ progress: LoadRun.Progress..., isClosed: Bool = false) -> LiveView {
        var view = LiveView(title: "authentication, GetSession", isClosed: isClosed)
        for moment in progress { view.take(moment) }
        return view
    }

    private func text(_ view: LiveView, width: Int = 80, height: Int = 24) -> [String] {
        view.lines(width: width, height: height, plain).map(\.text)
    }

    @Test("rate, percentiles, errors, what is left and the phase are there")
    func showsAll() {
        #expect(
            text(view(SampleProgress.make()))
                == [
                    "authentication, GetSession",
                    "measuring    ████████░░░░░░░░░░░░ 40 %         18 s left",
                    "rate         wanted 500/s achieved 498/s",
                    "last second  p50 2.00 ms  p90 2.00 ms  p99 2.00 ms  p99.9 2.00 ms max 2.00 ms",
                    "so far       p50 2.00 ms  p90 2.00 ms  p99 2.00 ms  p99.9 2.00 ms max 2.00 ms",
                    "errors       0 failed     0 %", "not started  0", "under way    8 calls      64 connections",
                ])
    }

    @Test("visits that are wanted are compared with visits, and calls stand beside them")
    func visits() {
        let several = SampleProgress.make(level: 50, calls: 441, visits: 49)
        #expect(text(view(several))[2] == "rate         wanted 50/s  achieved 49/s 441 calls/s")
        #expect(text(view(SampleProgress.make(visits: 498)))[2] == "rate         wanted 500/s achieved 498/s", "a visit of one call")
        let line = ProgressLine.text(several, isClosed: false)
        #expect(line.hasPrefix("12 of 30.0 s  50 due/s  49 done/s  441 calls/s") && line.count < 80)
    }

    @Test("percentiles so far are those of all measured calls, without the warm-up")
    func addsUp() {
        let all = view(
            SampleProgress.make(second: -1, milliseconds: 900), SampleProgress.make(second: 1, milliseconds: 1, calls: 900),
            SampleProgress.make(second: 2, milliseconds: 50, calls: 100))
        let lines = text(all, width: 120)
        #expect(
            lines.contains { $0.hasPrefix("so far") && $0.contains("p50 1.00 ms") && $0.contains("p99 50.0 ms") && $0.contains("max 50.0 ms") },
            "\(lines)")
        #expect(lines.contains { $0.hasPrefix("last second") && $0.contains("p50 50.0 ms") })
    }

    @Test("warm-up, steps of a ramp and users have words of their own")
    func phases() {
        #expect(text(view(SampleProgress.make(second: -3)))[1] == "warming up   3 s to go, then 30.0 s")
        #expect(text(view(SampleProgress.make(step: 3, steps: 10)))[1].hasPrefix("step 3 of 10 "))
        #expect(text(view(SampleProgress.make(), isClosed: true))[2].contains("wanted 500 users"))
        #expect(text(view()) == ["authentication, GetSession"])
        #expect(text(view(SampleProgress.make(second: 120, planned: 7200)))[1].contains("1 h 58 min left"))
        #expect(text(view(SampleProgress.make(calls: 0)))[3] == "last second  no call ended")
    }

    @Test("errors are named, and red where colours are shown")
    func errors() {
        let view = view(SampleProgress.make(failed: 24, errors: ["timeout": 4, "overloaded": 19, "http_503": 1], dropped: 7))
        let lines = text(view)
        #expect(lines[5] == "errors       24 failed    0.4 %        overloaded 19 timeout 4")
        #expect(lines[6] == "not started  7")
        let styled = view.lines(width: 80, height: 24, Console(isStyled: true)).map(\.text)
        #expect(styled[0].hasPrefix("\u{1b}[1m") && styled[5].hasPrefix("\u{1b}[31m") && !styled[2].contains("\u{1b}"))
        #expect(lines.allSatisfy { !$0.contains("\u{1b}") }, "none without colours (NO_COLOR)")
    }

    @Test("no line is longer than the terminal is wide, no block higher, and narrow ones lose nothing", arguments: [200, 80, 60, 44, 30, 20, 12])
    func narrow(_ width: Int) {
        let view = view(SampleProgress.make(failed: 24, errors: ["overloaded": 24]))
        let lines = view.lines(width: width, height: 100, plain)
        for line in lines { #expect(line.text.count == line.width && line.width < width, "\(line.text)") }
        if width >= 20 {
            let all = lines.map(\.text).joined(separator: " ")
            for words in ["474/s", "p50 2.00 ms", "p99.9 2.00 ms", "24 failed", "18 s left", "overloaded 24"] {
                #expect(all.contains(words), "\(words): \(all)")
            }
        }
        for height in [1, 2, 5] { #expect(view.lines(width: width, height: height, plain).count <= max(1, height - 1)) }
    }

    @Test("what was drawn is wiped out, also where a narrower terminal has broken its lines")
    func erases() {
        let lines = view(SampleProgress.make()).lines(width: 80, height: 24, plain)
        #expect(LiveView.erasing(lines, width: 80) == "\r\u{1b}[\(lines.count - 1)A\u{1b}[J")
        let broken = lines.reduce(0) { $0 + ($1.width + 39) / 40 }
        #expect(broken > lines.count && LiveView.erasing(lines, width: 40) == "\r\u{1b}[\(broken - 1)A\u{1b}[J")
        #expect(LiveView.erasing(Array(lines.prefix(1)), width: 80) == "\r\u{1b}[J")
    }

    @Test("a line for logs has at most 80 columns")
    func logLine() {
        let line = ProgressLine.text(SampleProgress.make(failed: 3, dropped: 2), isClosed: false)
        #expect(line == "12 of 30.0 s  500 due/s  495 ok/s  p50 2.00 ms p99 2.00 ms  3 failed  2 dropped")
        #expect(ProgressLine.text(SampleProgress.make(second: -1), isClosed: true).hasPrefix("warm-up  500 users  498 ok/s"))
        func place(_ second: Double) -> String { ProgressLine.text(SampleProgress.make(second: second, planned: 1200), isClosed: false) }
        #expect(place(12).hasPrefix("12 s of 20 min  500 due/s") && place(75).hasPrefix("1 min 15 s of 20 min  500 due/s"))
    }

    @Test("a block is for people at a terminal; beside --json, and elsewhere, there are lines")
    func forms() throws {
        func form(_ arguments: [String], isTerminal: Bool = true) throws -> RunDisplay.Form {
            let command = try #require(try LoadCommand.parseAsRoot(["config", "--rate", "5"] + arguments) as? LoadServiceCommand)
            return command.live.form(command.output, isTerminal: isTerminal)
        }
        #expect(try form([]) == .block && form([], isTerminal: false) == .lines && form(["--json", "a.json"]) == .lines)
        #expect(try form(["--csv", "-"]) == .lines && form(["--csv", "a.csv"]) == .block && form(["--quiet"]) == .none)
    }
}
