import Synchronization
import Testing

@testable import LoadReporting

@Suite struct ObserverTests {
    private struct Unreachable: Error, CustomStringConvertible {
        let description = "connection refused"
    }

    private let process = ObservedProcess(name: "service", pid: 4242, role: .target)

    private func observer(
        _ url: String? = "http://127.0.0.1:1/metrics", reads: ProcessReading?, fetch: @escaping @Sendable (String) async throws -> String
    ) -> Observer {
        Observer(
            metricsURL: url, processes: [process], remarks: [], interval: .milliseconds(5), readProcess: { _ in reads }, readMachine: { nil },
            fetch: fetch)
    }

    @Test func saysWhatCannotBeReadAndGoesOn() async {
        let observer = observer(reads: nil) { _ in throw Unreachable() }
        await observer.start()
        await observer.begins()
        let seen = await observer.stop()
        #expect(seen.panels.isEmpty && seen.processes.isEmpty)
        #expect(seen.remarks.contains { $0.contains("http://127.0.0.1:1/metrics") && $0.contains("connection refused") })
        #expect(seen.remarks.contains { $0.contains("4242") && $0.contains("/proc") })
        #expect(seen.seconds.count >= 2)
    }

    @Test func somethingElseThanMetricsIsSaidToBeSo() async {
        let observer = observer(reads: nil) { _ in "<html><body>404</body></html>" }
        await observer.start()
        let seen = await observer.stop()
        #expect(seen.remarks.contains { $0.contains("holds no metric") })
    }

    @Test func samplesEveryIntervalAndCountsTimeFromTheMeasuredPart() async throws {
        let calls = Mutex(0)
        let reading = ProcessReading(stat: "1 (x) S 1 1 1 0 -1 0 1 0 0 0 100 0 0 0 20 0 9 0 5 1000 10 0", ticksPerSecond: 100, pageSize: 4096)
        let observer = observer(reads: reading) { _ in
            let number = calls.withLock { count in
                count += 1
                return count
            }
            return "boxoffice_rpc_server_calls_total{code=\"ok\"} \(number * number * 10)"
        }
        await observer.start()
        while calls.withLock({ $0 }) < 4 { await Task.yield() }
        await observer.begins()
        while calls.withLock({ $0 }) < 8 { await Task.yield() }
        let seen = await observer.stop()
        #expect(seen.seconds.count >= 8)
        #expect(seen.seconds == seen.seconds.sorted())
        let (first, last) = (try #require(seen.seconds.first), try #require(seen.seconds.last))
        #expect(first < 0 && last > 0)
        let panel = try #require(seen.panels.first { $0.title == "RPC answers by code" })
        #expect(panel.series.map(\.name) == ["ok"])
        #expect(panel.series[0].values.count == seen.seconds.count)
        #expect(panel.series[0].values.dropFirst().allSatisfy { ($0 ?? 0) > 0 })
        let service = try #require(seen.processes.first)
        #expect(service.cores.count == seen.seconds.count && service.residentBytes.allSatisfy { $0 == 40_960 })
        #expect(seen.counters.first?.name == "boxoffice_rpc_server_calls_total{code=\"ok\"}")
        #expect(seen.remarks.isEmpty)
    }

    @Test func whatWasSeenAfterTheEndIsCutOffEverywhere() {
        var full = FullReport()
        full.seconds = 12
        let seen = full.report().observation?.until(5)
        #expect(seen?.seconds.last == 5)
        let length = seen?.seconds.count
        #expect(
            seen?.machineCores.count == length && seen?.processes.allSatisfy { $0.cores.count == length && $0.residentBytes.count == length } == true)
        #expect(seen?.panels.allSatisfy { $0.series.allSatisfy { $0.values.count == length } } == true)
    }
}
