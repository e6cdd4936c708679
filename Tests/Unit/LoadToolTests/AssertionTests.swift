import LoadReporting
import Testing

@testable import LoadTool

@Suite struct AssertionTests {
    private static func measurement(calls: Int = 1000, failed: Int = 1) -> RunMeasurement {
        var tally = Tally()
        tally.due = calls > 0 ? calls + 10 : 0
        tally.dropped = calls > 0 ? 10 : 0
        var record = OperationRecord()
        for call in 0..<calls {
            let time = Nanoseconds(call + 1) * 10_000
            tally.record(response: time, service: 5000, isFailure: call < failed, bytes: 1)
            record.record(response: time, service: 5000, failure: call < failed ? "unavailable" : nil, "")
        }
        return RunMeasurement(
            end: .duration, startedAtMilliseconds: 0, elapsed: Bench.second, totals: tally.totals(elapsed: Bench.second),
            operations: [record.result("Authorize"), OperationRecord().result("Idle")], series: [], steps: [], knee: nil, errors: [],
            generator: GeneratorHealth(lag: tally.lag.summary, processorShare: 0, wasBottleneck: false), iterationTime: nil)
    }

    @Test(arguments: [
        ("p99<9.95ms", true), ("p99<9.85ms", false), ("p50<=5.1ms", true), ("max>=10ms", true), ("mean<5.1ms", true), ("min<1ms", true),
        ("errors<0.2%", true), ("errors<0.1%", false), ("errors<=0.001", true), ("rate>=999", true), ("rate>1k", false), ("calls>=1k", true),
        ("dropped<2%", true), ("dropped<0.5%", false), ("service-p99<10us", true), ("Authorize:p99<9.95ms", true), ("Authorize:errors<0.2%", true),
        ("Authorize:rate>=999/s", true), (" p99 < 9.95 ms ", true),
        // An assertion about a figure that was not measured does not hold.
        ("Idle:p99<1h", false), ("Idle:errors<1%", false), ("Nobody:p99<1h", false), ("knee>=1", false), ("lag-p99<1h", false),
    ])
    func isChecked(_ text: String, _ expected: Bool) throws {
        let result = try Assertion(text).check(Self.measurement())
        #expect(result.hasHeld == expected, "\(result)")
    }

    @Test(arguments: ["p99<5ms", "errors<1%", "mean<1s", "dropped<1%", "rate>=1", "calls>=1"])
    func nothingMeasuredIsNotHeld(_ text: String) throws {
        #expect(try !Assertion(text).check(Self.measurement(calls: 0)).hasHeld)
    }

    @Test(arguments: [
        "", "p99", "p99<", "p99<5", "p99=5ms", "q99<5ms", "p101<5ms", "errors<5", "errors<x%", "rate>fast", "p99<-5ms", "<5ms", "latency<5ms",
        "p99<<5ms",
    ])
    func isRefused(_ text: String) {
        #expect(throws: OptionRejection.self) { try Assertion(text) }
    }

    @Test func saysWhatWouldBeRight() {
        let error = #expect(throws: OptionRejection.self) { try Assertion("p99<5") }
        #expect(error?.description.contains("5ms") == true)
    }
}
